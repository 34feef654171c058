//! The words of a SPIR-V module as instructions.

/// The first word of every module.
const MAGIC: u32 = 0x0723_0203;
/// Words before the first instruction: the magic number, the version, the generator, the bound of ids, and a reserved word.
const HEADER: usize = 5;
/// The newest version of SPIR-V that a module may have: that of Vulkan 1.3.
const NEWEST: u32 = 0x0001_0600;

/// Opcodes of the instructions that are read here.
pub(super) mod op {
    pub(in crate::kernel) const NAME: u16 = 5;
    pub(in crate::kernel) const ENTRY_POINT: u16 = 15;
    pub(in crate::kernel) const EXECUTION_MODE: u16 = 16;
    pub(in crate::kernel) const CAPABILITY: u16 = 17;
    pub(in crate::kernel) const TYPE_BOOL: u16 = 20;
    pub(in crate::kernel) const TYPE_INT: u16 = 21;
    pub(in crate::kernel) const TYPE_FLOAT: u16 = 22;
    pub(in crate::kernel) const TYPE_VECTOR: u16 = 23;
    pub(in crate::kernel) const TYPE_ARRAY: u16 = 28;
    pub(in crate::kernel) const TYPE_STRUCT: u16 = 30;
    pub(in crate::kernel) const TYPE_POINTER: u16 = 32;
    pub(in crate::kernel) const CONSTANT_TRUE: u16 = 41;
    pub(in crate::kernel) const CONSTANT_FALSE: u16 = 42;
    pub(in crate::kernel) const CONSTANT: u16 = 43;
    pub(in crate::kernel) const SPEC_CONSTANT: u16 = 50;
    pub(in crate::kernel) const SPEC_CONSTANT_COMPOSITE: u16 = 51;
    pub(in crate::kernel) const SPEC_CONSTANT_OP: u16 = 52;
    pub(in crate::kernel) const VARIABLE: u16 = 59;
    pub(in crate::kernel) const DECORATE: u16 = 71;
    pub(in crate::kernel) const MEMBER_DECORATE: u16 = 72;
    pub(in crate::kernel) const EXECUTION_MODE_ID: u16 = 331;
}

/// The execution mode that gives the size of a workgroup.
pub(super) const LOCAL_SIZE: u32 = 17;

/// One instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Instruction<'a> {
    pub(super) opcode: u16,
    /// The position of its first word in the module.
    pub(super) at: usize,
    /// The words after the first.
    pub(super) operands: &'a [u32],
}

/// The instructions of a module, in order.
///
/// # Errors
/// A message if the words are not the header of a module that Vulkan accepts, followed by complete instructions.
pub(super) fn instructions(words: &[u32]) -> Result<Vec<Instruction<'_>>, String> {
    let [MAGIC, version, _, _, 0, ..] = words else {
        return Err("it does not begin as a module of SPIR-V".into());
    };
    if !(0x0001_0000..=NEWEST).contains(version) {
        return Err(format!("its version of SPIR-V is {}.{}", version >> 16, version >> 8 & 0xff));
    }
    let mut found = Vec::new();
    let mut at = HEADER;
    while let Some(&first) = words.get(at) {
        #[expect(clippy::cast_possible_truncation, reason = "the lower half is the opcode")]
        let (length, opcode) = ((first >> 16) as usize, first as u16);
        let operands = words.get(at + 1..at + length.max(1));
        match operands.filter(|_| length > 0) {
            Some(operands) => found.push(Instruction { opcode, at, operands }),
            None => {
                return Err(format!(
                    "word {at}: an instruction of {length} words, where {} are left",
                    words.len() - at
                ));
            }
        }
        at += length;
    }
    Ok(found)
}

/// A string of a module: four bytes in each word, the first lowest, up to a zero.
pub(super) fn string(words: &[u32]) -> String {
    let bytes: Vec<u8> =
        words.iter().flat_map(|word| word.to_le_bytes()).take_while(|&byte| byte != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}
