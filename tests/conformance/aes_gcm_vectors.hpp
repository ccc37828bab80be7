// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Known answers of AES-GCM, in hexadecimal.
#pragma once

#include <string_view>

namespace doca_test {

struct GcmVector {
    const char *name;
    std::string_view key;
    std::string_view iv;
    std::string_view aad;
    std::string_view plaintext;
    std::string_view ciphertext;
    std::string_view tag;
};

inline constexpr std::string_view gcm_key_128 = "feffe9928665731c6d6a8f9467308308";
inline constexpr std::string_view gcm_key_256 = "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308";
inline constexpr std::string_view gcm_text_64 = "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
                                                "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b391aafd255";
inline constexpr std::string_view gcm_text_60 = gcm_text_64.substr(0, 120);
inline constexpr std::string_view gcm_aad_20 = "feedfacedeadbeeffeedfacedeadbeefabaddad2";

/// Test cases of the specification of GCM that was submitted to NIST, by their numbers, and of RFC 9001.
inline constexpr GcmVector gcm_vectors[] = {
    {"case_1", "00000000000000000000000000000000", "000000000000000000000000", "", "", "",
     "58e2fccefa7e3061367f1d57a4e7455a"},
    {"case_2", "00000000000000000000000000000000", "000000000000000000000000", "", "00000000000000000000000000000000",
     "0388dace60b6a392f328c2b971b2fe78", "ab6e47d42cec13bdf53a67b21257bddf"},
    {"case_3", gcm_key_128, "cafebabefacedbaddecaf888", "", gcm_text_64,
     "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e"
     "21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091473f5985",
     "4d5c2af327cd64a62cf35abd2ba6fab4"},
    {"case_4", gcm_key_128, "cafebabefacedbaddecaf888", gcm_aad_20, gcm_text_60,
     "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e"
     "21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091",
     "5bc94fbc3221a5db94fae95ae7121a47"},
    {"case_5_iv_of_8_bytes", gcm_key_128, "cafebabefacedbad", gcm_aad_20, gcm_text_60,
     "61353b4c2806934a777ff51fa22a4755699b2a714fcdc6f83766e5f97b6c7423"
     "73806900e49f24b22b097544d4896b424989b5e1ebac0f07c23f4598",
     "3612d2e79e3b0785561be14aaca2fccb"},
    {"case_13", "0000000000000000000000000000000000000000000000000000000000000000", "000000000000000000000000", "", "",
     "", "530f8afbc74536b9a963b4f1c4cb738b"},
    {"case_14", "0000000000000000000000000000000000000000000000000000000000000000", "000000000000000000000000", "",
     "00000000000000000000000000000000", "cea7403d4d606b6e074ec5d3baf39d18", "d0d1c8a799996bf0265b98b5d48ab919"},
    {"case_15", gcm_key_256, "cafebabefacedbaddecaf888", "", gcm_text_64,
     "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
     "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662898015ad",
     "b094dac5d93471bdec1a502270e3cc6c"},
    {"case_16", gcm_key_256, "cafebabefacedbaddecaf888", gcm_aad_20, gcm_text_60,
     "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
     "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662",
     "76fc6ece0f4e1768cddf8853bb2d551b"},
    {"case_17_iv_of_8_bytes", gcm_key_256, "cafebabefacedbad", gcm_aad_20, gcm_text_60,
     "c3762df1ca787d32ae47c13bf19844cbaf1ae14d0b976afac52ff7d79bba9de0"
     "feb582d33934a4f0954cc2363bc73f7862ac430e64abe499f47c9b1f",
     "3a337dbf46a792c45e454913fe2ea8f2"},
    // RFC 9001, A.4: the integrity tag of a Retry packet of QUIC. No plaintext.
    {"quic_retry", "be0c690b9f66575a1d766b54e368c84e", "461599d35d632bf2239825bb",
     "088394c8f03e515708ff000000010008f067a5502a4262b5746f6b656e", "", "", "04a265ba2eff4d829058fb3f0f2496ba"},
};

} // namespace doca_test
