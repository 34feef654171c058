//! Modules that are damaged or have declarations that a kernel may not have, and the modules of the crate.

use super::module::specialized;
use super::module_instructions::{Instruction, instructions, op};
use super::module_interface::module_interface;
use crate::kernel::{Kernel, MODULES, ShaderInterface};
use std::collections::HashMap;

/// The words of a module with these instructions, each an opcode and its operands.
fn module(instructions: &[(u16, Vec<u32>)]) -> Vec<u32> {
    let mut words = vec![0x0723_0203, 0x0001_0300, 0, 100, 0];
    for (opcode, operands) in instructions {
        let length = u32::try_from(operands.len() + 1).unwrap();
        words.push((length << 16) | u32::from(*opcode));
        words.extend(operands);
    }
    words
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// A string of at most three bytes as a word.
fn text(text: &str) -> u32 {
    text.bytes().rev().fold(0, |word, byte| word << 8 | u32::from(byte))
}

/// A kernel with an operand that it reads, one that it writes, dims of two words, and 3 N floats of shared memory.
fn kernel() -> Vec<(u16, Vec<u32>)> {
    const MAIN: u32 = 0x6e69_616d;
    vec![
        (op::CAPABILITY, vec![1]),
        (op::ENTRY_POINT, vec![5, 1, MAIN, 0]),
        (op::EXECUTION_MODE, vec![1, 17, 64, 2, 1]),
        (op::NAME, vec![20, text("N")]),
        (op::DECORATE, vec![20, 1, 7]),
        (op::DECORATE, vec![40, 33, 0]),
        (op::DECORATE, vec![40, 34, 0]),
        (op::DECORATE, vec![40, 24]),
        (op::DECORATE, vec![41, 33, 1]),
        (op::DECORATE, vec![41, 34, 0]),
        (op::MEMBER_DECORATE, vec![13, 0, 35, 0]),
        (op::MEMBER_DECORATE, vec![13, 1, 35, 4]),
        (op::TYPE_INT, vec![10, 32, 0]),
        (op::TYPE_FLOAT, vec![11, 32]),
        (op::TYPE_STRUCT, vec![12, 11]),
        (op::TYPE_STRUCT, vec![13, 10, 10]),
        (op::CONSTANT, vec![10, 19, 3]),
        (op::SPEC_CONSTANT, vec![10, 20, 5]),
        (op::SPEC_CONSTANT_OP, vec![10, 21, 132, 19, 20]),
        (op::TYPE_ARRAY, vec![14, 11, 21]),
        (op::TYPE_POINTER, vec![30, 12, 12]),
        (op::TYPE_POINTER, vec![31, 9, 13]),
        (op::TYPE_POINTER, vec![32, 4, 14]),
        (op::VARIABLE, vec![30, 40, 12]),
        (op::VARIABLE, vec![30, 41, 12]),
        (op::VARIABLE, vec![31, 42, 9]),
        (op::VARIABLE, vec![32, 43, 4]),
    ]
}

#[test]
fn a_module_declares_its_interface() {
    let found = module_interface(&module(&kernel())).unwrap();
    assert_eq!(found.shader, ShaderInterface { writes: vec![false, true], immediates: Some(8) });
    assert_eq!(
        (found.invocations, found.workgroup_bytes),
        (128, 64),
        "15 floats, and a multiple of 16 bytes"
    );
    assert_eq!(found.capabilities.into_iter().collect::<Vec<_>>(), [1]);
}

#[test]
fn what_is_computed_from_a_parameter_follows_it() {
    let words = specialized(&bytes(&module(&kernel())), &[("N", 100)]).unwrap();
    assert_eq!(module_interface(&words).unwrap().workgroup_bytes, 1200);
}

#[test]
fn a_parameter_that_is_not_there_or_not_of_32_bits_is_an_error() {
    let with = |more: &[(u16, Vec<u32>)]| bytes(&module(&[kernel(), more.to_vec()].concat()));
    let named = [(op::NAME, vec![22, text("W")]), (op::DECORATE, vec![22, 1, 8])];
    let wide = [named.to_vec(), vec![(op::SPEC_CONSTANT, vec![10, 22, 1, 0])]].concat();
    for (module, params, why) in [
        (with(&[]), vec![("M", 1)], "it has no parameter M; its parameters are N"),
        (with(&[]), vec![("N", 1), ("N", 1)], "the parameter N, which the kernel sets twice"),
        (with(&wide), vec![], "W is not of 32 bits"),
        (with(&named), vec![], "W is no number"),
        (with(&named[1..]), vec![], "specialisation constant 8 has no name"),
    ] {
        let error = specialized(&module, &params).expect_err(why);
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn a_module_of_no_kernel_is_an_error() {
    let without = |opcode: u16, first: u32| -> Vec<(u16, Vec<u32>)> {
        kernel().into_iter().filter(|(code, operands)| !(*code == opcode && operands[0] == first)).collect()
    };
    let with = |opcode: u16, operands: &[u32]| [kernel(), vec![(opcode, operands.to_vec())]].concat();
    let unknown = without(op::SPEC_CONSTANT_OP, 10);
    for (instructions, why) in [
        (without(op::ENTRY_POINT, 5), "one entry point"),
        (with(op::ENTRY_POINT, &[5, 2, text("two")]), "one entry point"),
        (without(op::EXECUTION_MODE, 1), "the size of its workgroups is not known"),
        (with(op::EXECUTION_MODE, &[1, 17, 1 << 16, 1 << 16, 2]), "its workgroups are too large"),
        (without(op::DECORATE, 40), "bound in group 0"),
        (with(op::DECORATE, &[41, 33, 5]), "without gaps"),
        (without(op::MEMBER_DECORATE, 13), "the size of its dims is not known"),
        (without(op::VARIABLE, 31), "declare its dims"),
        (unknown, "the size of its shared memory is not known"),
        (with(op::VARIABLE, &[31, 44, 2]), "its dims must be push constants"),
        (with(op::VARIABLE, &[77, 44, 4]), "a variable has no type"),
    ] {
        let error = module_interface(&module(&instructions)).expect_err(why);
        assert!(error.contains(why), "{error}, not {why}");
    }
    // A type of itself has no size.
    let round = [kernel(), vec![(op::TYPE_ARRAY, vec![14, 14, 19])]].concat();
    assert!(module_interface(&module(&round)).unwrap_err().contains("shared memory"));
}

#[test]
fn a_file_that_is_cut_or_no_module_is_an_error() {
    let (_, whole) = MODULES.iter().max_by_key(|(_, bytes)| bytes.len()).expect("the crate has modules");
    assert!(specialized(&whole[..whole.len() - 1], &[]).unwrap_err().contains("no whole words"));
    assert!(specialized(&[], &[]).unwrap_err().contains("does not begin"));
    assert!(specialized(b"not a module of SPIR-V", &[]).is_err());
    let mut newer = whole.to_vec();
    newer[5..7].copy_from_slice(&[9, 1]);
    assert!(specialized(&newer, &[]).unwrap_err().contains("version"));
    let mut endless = whole.to_vec();
    endless[22..24].fill(0);
    assert!(specialized(&endless, &[]).unwrap_err().contains("an instruction of 0 words"));
    let mut cuts = 0;
    for end in (20..whole.len()).step_by(4) {
        // A cut between two instructions leaves complete instructions; then a declaration is missing.
        let words = specialized(&whole[..end], &[]);
        cuts += usize::from(words.is_err());
        if let Ok(words) = words {
            _ = module_interface(&words);
        }
    }
    assert!(cuts > whole.len() / 8, "{cuts} cuts of {} are within an instruction", whole.len() / 4);
}

#[test]
fn every_module_of_the_crate_is_a_kernel_whose_parameters_can_be_set() {
    for (name, bytes) in MODULES {
        let words = specialized(bytes, &[]).unwrap_or_else(|why| panic!("{name}: {why}"));
        let interface = module_interface(&words).unwrap_or_else(|why| panic!("{name}: {why}"));
        assert!(interface.invocations.is_power_of_two(), "{name}");
        // A driver stages the operands of a workgroup's matrices.
        assert_eq!(interface.workgroup_bytes == 0, name.contains(".workgroup."), "{name}");
        let writes = match name.split('.').next() {
            Some("attention_nv2") => [vec![false; 7], vec![true; 2]].concat(),
            Some("attention_gradients_nv2") => [vec![false; 9], vec![true]].concat(),
            Some("coop_verify") => vec![false, false, true],
            // The table of segments, the other factor and gates.
            _ if name.ends_with("_segments") => [vec![false, false, true], vec![false; 3]].concat(),
            // The operands of an epilogue follow.
            _ => [vec![false, false, true], vec![false; 4]].concat(),
        };
        assert_eq!(interface.shader.writes, writes, "{name}");
        let wider = specialized(bytes, &[("LANES", 256)]).unwrap();
        assert_ne!(words, wider, "{name}");
        let kernel = Kernel::new(format!("spirv/{name}").leak());
        assert_eq!(kernel.words().unwrap(), words, "{name}");
        for (kernel, why) in [
            (kernel.clone().param("LANES", "two"), "LANES=two is no integer of 32 bits"),
            (kernel.clone().param("LANES", u64::MAX), "is no integer of 32 bits"),
            (kernel.clone().slot("dims", "ring"), "a module has no slot dims"),
            (Kernel::new("spirv/none"), "no shaders/spirv/none.spv"),
        ] {
            let error = kernel.words().expect_err(why).to_string();
            assert!(error.contains(why), "{error}");
        }
        assert!(kernel.specialize().is_err(), "{name}: it is no text");
    }
}

/// The names of a workgroup's sizes become numbers, which Vulkan accepts without `maintenance4`.
#[test]
fn the_size_of_a_workgroup_is_written_where_a_module_names_it() {
    let named = |sizes: [u32; 3]| {
        let mut kernel = kernel();
        let size = [&[1, 38][..], &sizes].concat();
        *kernel.iter_mut().find(|(opcode, _)| *opcode == op::EXECUTION_MODE).unwrap() =
            (op::EXECUTION_MODE_ID, size);
        bytes(&module(&kernel))
    };
    // N is 20, and no constant has the number 99.
    let words = specialized(&named([20, 20, 20]), &[("N", 3)]).unwrap();
    assert_eq!(module_interface(&words).unwrap().invocations, 27);
    assert!(instructions(&words).unwrap().iter().all(|one| one.opcode != op::EXECUTION_MODE_ID));
    let error = specialized(&named([20, 20, 99]), &[("N", 3)]).unwrap_err();
    assert_eq!(error, "the size of its workgroups is not known");
    // Any number of words in place of three.
    for count in [0, 1, 2, 4] {
        let mut kernel = kernel();
        kernel.push((op::EXECUTION_MODE_ID, [&[1, 38][..], &vec![20; count]].concat()));
        assert!(specialized(&bytes(&module(&kernel)), &[("N", 3)]).is_err(), "{count}");
    }
}

/// Opcodes that the test below reads, besides those of `op`.
const FUNCTION: u16 = 54;
const FUNCTION_END: u16 = 56;
const MULTIPLY_ADD: u16 = 4459;
const CONTROL_BARRIER: u16 = 224;

/// In attention on flexible matrices, functions turn scores into weights in registers: between the two products, no instruction
/// (nor one of a called function) names a variable of shared memory or is a barrier.
#[test]
fn no_shared_memory_is_accessed_between_the_products_of_attention() {
    let of_attention = MODULES.iter().filter(|(name, _)| name.starts_with("attention_nv2."));
    let shaders: Vec<String> = of_attention.map(|(name, _)| format!("spirv/{name}")).collect();
    assert_eq!(shaders.len(), 6, "f16 and bf16, each of flexible size and of exact sizes by two extensions");
    for shader in shaders {
        let shader: &'static str = shader.leak();
        let words = Kernel::new(shader).words().unwrap();
        let found = instructions(&words).unwrap();
        let is_shared = |one: &Instruction<'_>| one.opcode == op::VARIABLE && one.operands[2] == 4;
        let shared: Vec<u32> = found.iter().filter(|one| is_shared(one)).map(|one| one.operands[1]).collect();
        assert_eq!(shared.len(), 4, "{shader}: keys, values, weights that are not finite, flags");
        let entry = found.iter().find(|one| one.opcode == op::ENTRY_POINT).expect("there is one");
        let main = entry.operands[1];
        // Each function's id and its instructions.
        let mut functions: HashMap<u32, &[Instruction<'_>]> = HashMap::new();
        let mut begun = 0;
        for (at, one) in found.iter().enumerate() {
            match one.opcode {
                FUNCTION => begun = at,
                FUNCTION_END if found[begun].operands[1] == main => {} // which is not called
                FUNCTION_END => _ = functions.insert(found[begun].operands[1], &found[begun..at]),
                _ => {}
            }
        }
        let products: Vec<usize> = (0..found.len()).filter(|&at| found[at].opcode == MULTIPLY_ADD).collect();
        let [first, second] = products[..] else { panic!("{shader}: two products, not {products:?}") };
        // NOTE: a word that is no id may equal an id. The test then finds too many names, never too few.
        let touches = |range: &[Instruction<'_>]| {
            let mut left: Vec<&[Instruction<'_>]> = vec![range];
            let mut seen = Vec::new();
            while let Some(range) = left.pop() {
                for one in range {
                    if one.opcode == CONTROL_BARRIER || one.operands.iter().any(|id| shared.contains(id)) {
                        return true;
                    }
                    for id in one.operands.iter().filter(|id| functions.contains_key(id)) {
                        if !seen.contains(id) {
                            seen.push(*id);
                            left.push(&functions[id][1..]);
                        }
                    }
                }
            }
            assert!(!seen.is_empty() || range.is_empty(), "{shader}: functions of elements are called");
            false
        };
        assert!(!touches(&found[first + 1..second]), "{shader}");
        assert!(touches(&found[first - 40..first]), "{shader}: before, matrices are loaded from it");
        assert!(
            touches(&found[second + 1..]),
            "{shader}: behind, weights are stored where values are not finite"
        );
    }
}
