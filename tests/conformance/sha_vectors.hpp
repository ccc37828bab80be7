// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Known answers: the example messages of FIPS 180 and of NIST's additional examples for SHA-2, short and long, around
// the lengths where padding takes another block.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace doca_test {

struct ShaVector {
    std::string_view text;
    std::size_t repeat;
    std::string_view digests[3]; ///< SHA-1, SHA-256, SHA-512

    [[nodiscard]] std::string message() const
    {
        std::string result;
        for (std::size_t i = 0; i < repeat; ++i)
            result += text;
        return result;
    }
};

// clang-format off
constexpr ShaVector sha_vectors[] = {
    {"abc", 1,
     {"a9993e364706816aba3e25717850c26c9cd0d89d",
      "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
      "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
      "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"}},
    {"\275", 1,
     {"9034aaf45143996a2b14465c352ab0c6fa26b221",
      "68325720aabd7c82f30f554b313d0570c95accbb7dc4b5aae11204c08ffe732b",
      "296e2267d74c278daaaa940d17b0cfb74a5083f8e069726d8c841cbe596e0431"
      "cb7741a5b50f71666cfd54bacb7b00aea891499cf4ef6a03c8a83fe37c3f7baf"}},
    {"\311\214\216U", 1,
     {"168e55edc93d09f6e0fd86ad01ba328b9ef98acd",
      "7abc22c0ae5af26ce93dbb94433a0e0b2e119d014f8e7f65bd56c61ccccd9504",
      "09a985c15fa5cc68a8968ffaeaf3b5ec234569ad567450394c075b9061c8f7df"
      "58ff11299570188216c631de604df0ab08cdd193291ce5763acdc427df060489"}},
    {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
     {"84983e441c3bd26ebaae4aa1f95129e5e54670f1",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
      "204a8fc6dda82f0a0ced7beb8e08a41657c16ef468b228a8279be331a703c335"
      "96fd15c13b1b07f9aa1d3bea57789ca031ad85c7a71dd70354ec631238ca3445"}},
    {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
     "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu", 1,
     {"a49b2446a02c645bf419f995b67091253a04a259",
      "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1",
      "8e959b75dae313da8cf4f72814fc143f8f7779c6eb9f7fa17299aeadb6889018"
      "501d289e4900f7e4331b99dec4b5433ac7d329eeb6dd26545e96e55b874be909"}},
    {"01234567012345670123456701234567012345670123456701234567"
     "01234567", 10,
     {"dea356a2cddd90c7a7ecedc5ebb563934f460452",
      "594847328451bdfa85056225462cc1d867d877fb388df0ce35f25ab5562bfbb5",
      "89d05ba632c699c31231ded4ffc127d5a894dad412c0e024db872d1abd2ba814"
      "1a0f85072a9be1e2aa04cf33c765cb510813a39cd5a84c4acaa64d3f3fb7bae9"}},
    {std::string_view("\0", 1), 55,
     {"8e8832c642a6a38c74c17fc92ccedc266c108e6c",
      "02779466cdec163811d078815c633f21901413081449002f24aa3e80f0b88ef7",
      "2c2481278f62cd07726383b036775306ae6b693f199a6c700f735fe22507c908"
      "4bb91ce5f6458d3c3926514970226c563464723aa99c210b77518830576f8c0b"}},
    {std::string_view("\0", 1), 56,
     {"9438e360f578e12c0e0e8ed28e2c125c1cefee16",
      "d4817aa5497628e7c77e6b606107042bbba3130888c5f47a375e6179be789fbb",
      "2146aa8ab60c48acff43ae8c33c5da4c2586f20a39f8f1308aefb6f833b758ad"
      "7158bd5e9a386e45feba446f33855d393857b557fe8ba6fe52364e7a7af3be9b"}},
    {std::string_view("\0", 1), 57,
     {"0f2bf6d5e1a0209d19f8f6e7d08b3e2d9cf4c5ab",
      "65a16cb7861335d5ace3c60718b5052e44660726da4cd13bb745381b235a1785",
      "904f1892ec5c43c557199325fda79cacaee2e8f1b4a1d41b85c893d967c3209f"
      "0c58081c0c9a6083f85fd4866611dfeb490c11f3163c12f4f0579adda2c68100"}},
    {std::string_view("\0", 1), 64,
     {"c8d7d0ef0eedfa82d2ea1aa592845b9a6d4b02b7",
      "f5a5fd42d16a20302798ef6ed309979b43003d2320d9f0e8ea9831a92759fb4b",
      "7be9fda48f4179e611c698a73cff09faf72869431efee6eaad14de0cb44bbf66"
      "503f752b7a8eb17083355f3ce6eb7d2806f236b25af96a24e22b887405c20081"}},
    {std::string_view("\0", 1), 111,
     {"dd90903d2f566a3922979dd5e18378a075c7ed33",
      "24b920fb2f49f521a4fce8f8d0bca1098aa7b380733f96fd6de736dca5006a2e",
      "77ddd3a542e530fd047b8977c657ba6ce72f1492e360b2b2212cd264e75ec038"
      "82e4ff0525517ab4207d14c70c2259ba88d4d335ee0e7e20543d22102ab1788c"}},
    {std::string_view("\0", 1), 112,
     {"5c0168621a045c606b075a182ad39370e6343683",
      "b5fdab78d8947eacc864bfeecb4d2100780e5afe1cd8efafb124887913ac49fa",
      "2be2e788c8a8adeaa9c89a7f78904cacea6e39297d75e0573a73c756234534d6"
      "627ab4156b48a6657b29ab8beb73334040ad39ead81446bb09c70704ec707952"}},
    {std::string_view("\0", 1), 113,
     {"f16acd929b52b77b7dad02dbceff25992f4ba95e",
      "951b1c95584b91fd8776e1d26b25d745ad5d508f6337686b9f7131d7c2f7096a",
      "0e67910bcf0f9ccde5464c63b9c850a12a759227d16b040d98986d54253f9f34"
      "322318e56b8feb86c5fb2270ed87f31252f7f68493ee759743909bd75e4bb544"}},
    {std::string_view("\0", 1), 122,
     {"d53e4c5562cafbb535c477e05223688b0d5faacd",
      "1171666c3e0af069667251bbb8dbac52aeff187a6866daa07c597c813aa289e0",
      "4f3f095d015be4a7a7cc0b8c04da4aa09e74351e3a97651f744c23716ebd9b3e"
      "822e5077a01baa5cc0ed45b9249e88ab343d4333539df21ed229da6f4a514e0f"}},
    {std::string_view("\0", 1), 1000,
     {"c577f7a37657053275f3e3ecc06ec22e6b909366",
      "541b3e9daa09b20bf85fa273e5cbd3e80185aa4ec298e765db87742b70138a53",
      "ca3dff61bb23477aa6087b27508264a6f9126ee3a004f53cb8db942ed345f2f2"
      "d229b4b59c859220a1cf1913f34248e3803bab650e849a3d9a709edc09ae4a76"}},
    {"A", 1000,
     {"3ae3644d6777a1f56a1defeabc74af9c4b313e49",
      "c2e686823489ced2017f6059b8b239318b6364f6dcd835d0a519105a1eadd6e4",
      "329c52ac62d1fe731151f2b895a00475445ef74f50b979c6f7bb7cae349328c1"
      "d4cb4f7261a0ab43f936a24b000651d4a824fcdd577f211aef8f806b16afe8af"}},
    {"U", 1005,
     {"e88bf42e6b3c707e1c80218e85fbec925c38d48a",
      "f4d62ddec0f3dd90ea1380fa16a5ff8dc4c54b21740650f24afc4120903552b0",
      "59f5e54fe299c6a8764c6b199e44924a37f59e2b56c3ebad939b7289210dc8e4"
      "c21b9720165b0f4d4374c90f1bf4fb4a5ace17a1161798015052893a48c3d161"}},
    {"a", 1000000,
     {"34aa973cd4c4daa4f61eeb2bdbad27316534016f",
      "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
      "e718483d0ce769644e2e42c7bc15b4638e1f98b13b2044285632a803afa973eb"
      "de0ff244877ea60a4cb0432ce577c31beb009c5c2c49aa2e4eadb217ad8cc09b"}},
    {std::string_view("\0", 1), 1000000,
     {"bef3595266a65a2ff36b700a75e8ed95c68210b6",
      "d29751f2649b32ff572b5e0a9f541ea660a50f94ff0beedfb0b692b924cc8025",
      "ce044bc9fd43269d5bbc946cbebc3bb711341115cc4abdf2edbc3ff2c57ad4b1"
      "5deb699bda257fea5aef9c6e55fcf4cf9dc25a8c3ce25f2efe90908379bff7ed"}},
};
// clang-format on

} // namespace doca_test
