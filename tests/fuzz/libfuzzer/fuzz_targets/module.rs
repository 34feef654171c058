#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tilewise_fuzz::module(data));
