# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""Manual pages of section 3, made from what Doxygen has read in the public headers.

Each function gets a page of its own, each header one that lists its functions and explains its types, values and
macros. The headers' comments are the one source: nothing is said here that does not stand there.
"""

import pathlib
import re
import textwrap
import xml.etree.ElementTree as ElementTree

BOLD, ITALIC, ROMAN = '\\fB', '\\fI', '\\fR'

# Headers of which no library has the name are of the common one.
LIBRARIES = ['aes_gcm', 'argp', 'comch', 'comm_channel', 'compress', 'dma', 'erasure_coding', 'rdma', 'sha']


def escape(text):
    """Text as it is, for roff: no character of it is a command."""
    return text.replace('\\', '\\e').replace('-', '\\-').replace("'", '\\(aq').replace('`', '\\(ga').replace(
        '^', '\\(ha').replace('~', '\\(ti')


def guarded(line):
    """A line that begins like a command gets a character of no width in front."""
    return '\\&' + line if line.startswith(('.', "'", '\\(aq')) else line


class Renderer:
    """Turns Doxygen's paragraphs into roff, and notes which functions they name."""

    def __init__(self, section, functions):
        self.section = section
        self.functions = functions
        self.mentioned = []

    def words(self, node):
        """The text in a node, in one line."""
        parts = [escape(node.text or '')]
        for child in node:
            if child.tag == 'ref':
                parts.append(self.reference(''.join(child.itertext())))
            elif child.tag in ('computeroutput', 'bold'):
                parts.append(BOLD + self.words(child) + ROMAN)
            elif child.tag == 'emphasis':
                parts.append(ITALIC + self.words(child) + ROMAN)
            elif child.tag == 'linebreak':
                parts.append(' ')
            elif child.tag not in ('itemizedlist', 'orderedlist', 'parameterlist', 'simplesect', 'programlisting',
                                   'verbatim', 'preformatted', 'anchor'):
                parts.append(self.words(child))
            parts.append(escape(child.tail or ''))
        return re.sub(r'\s+', ' ', ''.join(parts)).strip()

    def reference(self, text):
        name = text.removesuffix('()')
        if name not in self.functions:
            return escape(text)
        if name not in self.mentioned:
            self.mentioned.append(name)
        return f'{BOLD}{name}{ROMAN}({self.section})'

    def blocks(self, node, first='.PP', later='.PP'):
        """The paragraphs in a node, each after a command that begins one."""
        lines = []
        for para in node.findall('para'):
            lines += self.paragraph(para, first if not lines else later)
        return [line for line in lines if line]

    def body(self, node):
        """The paragraphs below a tag, as far to the right as the first."""
        return self.blocks(node, first='', later='.IP') or ['\\&']

    def paragraph(self, para, begin):
        """A paragraph with the lists in it. Doxygen puts lists among the words."""
        lines = []
        words = ElementTree.Element('para')
        words.text = para.text

        def flush(again):
            nonlocal words
            text = self.words(words)
            if text:
                lines.extend([again] if again else [])
                lines.append(guarded(text))
            words = ElementTree.Element('para')

        for child in para:
            if child.tag in ('itemizedlist', 'orderedlist'):
                flush(begin if not lines else '.PP')
                lines.extend(self.items(child))
            elif child.tag in ('verbatim', 'preformatted', 'programlisting'):
                flush(begin if not lines else '.PP')
                lines.extend(['.PP', '.RS 4', '.nf', *self.verbatim(child), '.fi', '.RE'])
            elif child.tag == 'simplesect' and child.get('kind') != 'return':
                flush(begin if not lines else '.PP')
                lines.extend(self.blocks(child))
            elif child.tag not in ('parameterlist', 'simplesect'):
                words.append(child)
                continue
            words.text = child.tail
        flush(begin if not lines else '.PP')
        return lines

    def verbatim(self, node):
        if node.tag == 'programlisting':
            text = '\n'.join(''.join(' ' if part.tag == 'sp' else (part.text or '') for part in line.iter())
                             for line in node.findall('codeline'))
        else:
            text = ''.join(node.itertext())
        return [guarded(escape(line)) for line in textwrap.dedent(text).strip('\n').split('\n')]

    def items(self, node):
        lines = []
        for number, item in enumerate(node.findall('listitem'), 1):
            mark = '\\(bu' if node.tag == 'itemizedlist' else f'{number}.'
            lines.append(f'.IP {mark} 3')
            lines += self.body(item)
        return lines


def text_of(node):
    return re.sub(r'\s+', ' ', ''.join(node.itertext())).strip() if node is not None else ''


def description_of(member):
    """Brief and detailed description as one list of paragraphs."""
    joined = ElementTree.Element('description')
    for tag in ('briefdescription', 'detaileddescription'):
        joined.extend(member.find(tag).findall('para'))
    return joined


def one_line(text):
    """What a page is about, without the sentence's end."""
    return text.split('. ')[0].rstrip('.').replace(':', ',') if text else ''


class Manual:
    """All pages of one API generation."""

    def __init__(self, xml, output, api, section, date):
        self.xml = pathlib.Path(xml)
        self.output = pathlib.Path(output)
        self.api = api
        self.section = section
        self.date = date
        self.headers = {}
        index = ElementTree.parse(self.xml / 'index.xml').getroot()
        for compound in index.findall('compound'):
            if compound.get('kind') == 'file' and compound.find('name').text.endswith('.h'):
                root = ElementTree.parse(self.xml / (compound.get('refid') + '.xml')).getroot()
                self.headers[compound.find('name').text] = root.find('compounddef')
        self.functions = {}
        for header, compound in sorted(self.headers.items()):
            for member in compound.iter('memberdef'):
                if member.get('kind') == 'function':
                    self.functions[member.find('name').text] = (header, member)

    def library(self, header):
        name = next((library for library in LIBRARIES if header.startswith('doca_' + library)), 'common')
        return f'opendoca, an implementation of DOCA {self.api} (libdoca_{name}, pkg-config ' \
               f'doca-{name.replace("_", "-")})'

    def head(self, name, about, header):
        return [
            f'.\\" Made from {header} by docs/manual/man3.py.',
            f'.TH {escape(name)} {self.section} {self.date} "opendoca" "DOCA {self.api}"',
            '.SH NAME', f'{escape(name)} \\- {escape(about)}',
            '.SH LIBRARY', escape(self.library(header)),
        ]

    def prototype(self, member):
        params = member.findall('param')
        shown = []
        for param in params:
            kind = text_of(param.find('type'))
            name = text_of(param.find('declname'))
            array = text_of(param.find('array'))
            if '(*)' in kind or array.startswith(')'):
                shown.append(escape(f'{kind}{name}{array}'))
                continue
            space = '' if kind.endswith('*') or not name else ' '
            shown.append(f'{BOLD}{escape(kind)}{space}{ROMAN}{ITALIC}{escape(name)}{ROMAN}{escape(array)}')
        kind = text_of(member.find('type'))
        space = '' if kind.endswith('*') else ' '
        name = member.find('name').text
        arguments = f'{BOLD}, {ROMAN}'.join(shown) if shown else f'{BOLD}void{ROMAN}'
        return ['.HP 4', f'{BOLD}{escape(kind)}{space}{name}({ROMAN}{arguments}{BOLD});{ROMAN}']

    def see_also(self, header, mentioned, own):
        pages = [name for name in sorted(mentioned) if name != own]
        lines = [f'{BOLD}{name}{ROMAN}({self.section}),' for name in [*pages, escape(header)]]
        lines.append(f'{BOLD}opendoca{ROMAN}(7)')
        return ['.SH SEE ALSO', *lines]

    def function_page(self, name):
        header, member = self.functions[name]
        render = Renderer(self.section, self.functions)
        brief = text_of(member.find('briefdescription'))
        if not brief:
            raise ValueError(f'{header}: {name} has no comment')
        lines = self.head(name, one_line(brief), header)
        lines += ['.SH SYNOPSIS', '.nf', f'{BOLD}#include <{escape(header)}>{ROMAN}', '.fi', *self.prototype(member)]
        lines += ['.SH DESCRIPTION', *render.blocks(description_of(member), first='')]
        parameters = [item for kinds in member.iter('parameterlist') if kinds.get('kind') == 'param'
                      for item in kinds.findall('parameteritem')]
        documented = {text_of(item.find('parameternamelist/parametername')) for item in parameters}
        declared = {text_of(param.find('declname')) for param in member.findall('param')} - {''}
        if documented != declared:
            raise ValueError(f'{header}: {name} explains {sorted(documented)} and has {sorted(declared)}')
        if parameters:
            lines.append('.SH PARAMETERS')
        for item in parameters:
            pname = item.find('parameternamelist/parametername')
            direction = f' ({pname.get("direction")})' if pname.get('direction') else ''
            lines += ['.TP', f'{ITALIC}{escape(text_of(pname))}{ROMAN}{direction}']
            lines += render.body(item.find('parameterdescription'))
        for returned in member.iter('simplesect'):
            if returned.get('kind') == 'return':
                lines += self.returned(render, returned)
        lines += ['.SH NOTES', f'States, threads and what NULL means for all functions of this header: '
                               f'{BOLD}{escape(header)}{ROMAN}({self.section}).']
        lines += self.see_also(header, render.mentioned, name)
        self.write(name, lines)

    def returned(self, render, node):
        """Return value, with the list of errors in the form that manual pages have."""
        lines = ['.SH RETURN VALUE']
        for para in node.findall('para'):
            lists = para.findall('itemizedlist')
            codes = [item for entries in lists for item in entries.findall('listitem')]
            if not codes or not all(re.match(r'DOCA_\w+(, DOCA_\w+)*(:| - | )', text_of(item)) for item in codes):
                lines += render.paragraph(para, '' if len(lines) == 1 else '.PP')
                continue
            head = render.words(para).rstrip()
            lines.append(guarded(head.removesuffix(', or') + ', or an error.' if head.endswith(', or') else head))
            lines.append('.SH ERRORS')
            for item in codes:
                whole = render.body(item)
                match = re.match(r'((?:DOCA_\w+)(?:, DOCA_\w+)*)(?::| \\- | )\s*', whole[0])
                rest = whole[0][match.end():]
                lines += ['.TP', BOLD + match.group(1) + ROMAN, guarded(rest), *whole[1:]]
            tail = [text for text in (escape(entries.tail or '').strip() for entries in lists) if text]
            lines += [part for text in tail for part in ('.PP', guarded(re.sub(r'\s+', ' ', text)))]
        return [line for line in lines if line]

    def header_page(self, header):
        compound = self.headers[header]
        render = Renderer(self.section, self.functions)
        brief = text_of(compound.find('briefdescription'))
        if not brief:
            raise ValueError(f'{header} has no @file comment')
        lines = self.head(header, one_line(brief), header)
        lines += ['.SH SYNOPSIS', f'{BOLD}#include <{escape(header)}>{ROMAN}', '.SH DESCRIPTION',
                  *render.blocks(description_of(compound), first='')]
        members = list(compound.iter('memberdef'))
        functions = [member for member in members if member.get('kind') == 'function']
        if functions:
            lines.append('.SH FUNCTIONS')
        for member in functions:
            lines += ['.TP', f'{BOLD}{member.find("name").text}{ROMAN}({self.section})',
                      guarded(escape(text_of(member.find('briefdescription'))))]
        lines += self.types(render, compound, members)
        macros = [member for member in members if member.get('kind') == 'define' and text_of(description_of(member))]
        if macros:
            lines.append('.SH MACROS')
        for member in macros:
            lines += self.entry(render, member.find('name').text + self.macro_parameters(member), member)
        lines += ['.SH SEE ALSO', f'{BOLD}opendoca{ROMAN}(7)']
        self.write(header, [line for line in lines if line])

    @staticmethod
    def macro_parameters(member):
        names = [text_of(param.find('defname')) for param in member.findall('param')]
        return f'({", ".join(names)})' if any(names) else ''

    def entry(self, render, what, member):
        return ['.TP', BOLD + escape(what) + ROMAN, *render.body(description_of(member))]

    def types(self, render, compound, members):
        lines = []
        for inner in compound.findall('innerclass'):
            root = ElementTree.parse(self.xml / (inner.get('refid') + '.xml')).getroot().find('compounddef')
            lines += self.entry(render, f'{root.get("kind")} {inner.text}', root)
            fields = list(root.iter('memberdef'))
            lines += self.within([(text_of(field.find('definition')).split('::')[-1].split()[-1]
                                   + text_of(field.find('argsstring')), field) for field in fields], render,
                                 lambda field: text_of(field.find('type')))
        for member in members:
            if member.get('kind') == 'enum':
                lines += self.entry(render, f'enum {text_of(member.find("name"))}'.strip(), member)
                lines += self.within([(text_of(value.find('name')) + ' ' + text_of(value.find('initializer')), value)
                                      for value in member.findall('enumvalue')], render, lambda value: '')
            elif member.get('kind') == 'typedef':
                lines += self.entry(render, text_of(member.find('definition')) + text_of(member.find('argsstring')),
                                    member)
        return ['.SH TYPES', *lines] if lines else []

    @staticmethod
    def within(named, render, kind_of):
        if not named:
            return []
        lines = ['.RS']
        for name, node in named:
            lines += ['.TP', f'{escape(kind_of(node))} {BOLD}{escape(name.strip())}{ROMAN}'.strip(),
                      *render.body(description_of(node))]
        return lines + ['.RE']

    def write(self, name, lines):
        (self.output / f'{name}.{self.section}').write_text('\n'.join(line for line in lines if line) + '\n')

    def write_all(self):
        self.output.mkdir(parents=True)
        for name in self.functions:
            self.function_page(name)
        for header in self.headers:
            self.header_page(header)
