//! Parses a shader's declarations: its operands, and how it receives its dims.

/// What a shader declares to its pipeline layout.
#[derive(Debug, PartialEq, Eq)]
pub struct ShaderInterface {
    /// For each operand, whether the kernel writes it. Operands are the bindings of group 0, numbered from 0 without gaps.
    pub writes: Vec<bool>,
    /// The size of the dims in bytes if they are immediates. None if they are a uniform buffer.
    pub immediates: Option<u32>,
}

/// Parses a shader's interface.
///
/// # Errors
/// A message if the declarations are not valid WGSL, or not those of a kernel.
pub fn shader_interface(text: &str) -> Result<ShaderInterface, String> {
    let text = declarations(text);
    let module = naga::front::wgsl::parse_str(&text).map_err(|error| error.emit_to_string(&text))?;
    let mut operands = Vec::new();
    let mut dims = None;
    for (_, variable) in module.global_variables.iter() {
        match variable.space {
            naga::AddressSpace::Storage { access } => {
                let binding = variable
                    .binding
                    .as_ref()
                    .filter(|at| at.group == 0)
                    .ok_or("every operand must be bound in group 0")?;
                operands.push((binding.binding, access.contains(naga::StorageAccess::STORE)));
            }
            naga::AddressSpace::Immediate => {
                dims = Some(Some(module.types[variable.ty].inner.size(module.to_ctx())));
            }
            naga::AddressSpace::Uniform => dims = Some(None),
            _ => {}
        }
    }
    operands.sort_unstable();
    if operands.iter().zip(0..).any(|(&(binding, _), expected)| binding != expected) {
        return Err("operands must be bound from 0, without gaps".into());
    }
    let writes = operands.into_iter().map(|(_, writes)| writes).collect();
    dims.map(|immediates| ShaderInterface { writes, immediates })
        .ok_or_else(|| "a kernel must declare its dims".into())
}

/// A shader without its functions and comments.
///
/// wgpu parses the whole shader later. Parsing all of it here as well would double that cost, and naga would log about ten
/// thousand lines at `debug` level twice.
fn declarations(text: &str) -> String {
    let code = text.lines().map(|line| line.split_once("//").map_or(line, |(code, _)| code));
    let mut declarations = String::new();
    let (mut item, mut depth) = (String::new(), 0_usize);
    for character in code.flat_map(|line| line.chars().chain(['\n'])) {
        item.push(character);
        match character {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && matches!(character, ';' | '}') {
            let head = item.split('{').next().unwrap_or_default();
            if !head.split_whitespace().any(|word| word == "fn") {
                declarations.push_str(&item);
            }
            item.clear();
        }
    }
    declarations + &item
}

#[cfg(test)]
mod tests {
    use super::{ShaderInterface, declarations, shader_interface};

    const TEXT: &str = "enable f16; // fn
        alias unit = vec4<f32>;
        const LAST = 1u + 1u; const_assert LAST == 2u;
        struct Dims { n: u32, m: u32 }
        @group(0) @binding(0) var<storage, read> a: array<unit>;
        @group(0) @binding(LAST) var<storage, read_write> c: array<unit>;
        @group(0) @binding(LAST - 1u) var<storage, read> b: array<f16>;
        var<immediate> dims: Dims;
        var<workgroup> shared_a: array<f32, 4>;
        fn half(x: f32) -> f32 { if x > 0.0 { return x; } return 0.5 * x; }
        @compute @workgroup_size(LAST)
        fn main(@builtin(workgroup_id) at: vec3<u32>) { c[at.x] = a[at.x] * half(f32(b[dims.n])); }
    ";

    #[test]
    fn declarations_are_everything_but_functions() {
        let text = declarations(TEXT);
        for function in ["fn", "main", "half", "@compute", "return"] {
            assert!(!text.contains(function), "{function} in {text}");
        }
        let found = shader_interface(TEXT).unwrap();
        assert_eq!(found, ShaderInterface { writes: vec![false, false, true], immediates: Some(8) });
        let ring = TEXT.replace("var<immediate>", "@group(1) @binding(0) var<uniform>");
        assert_eq!(shader_interface(&ring).unwrap().immediates, None);
    }

    #[test]
    fn an_invalid_interface_is_an_error_that_says_why() {
        for (from, to, why) in [
            ("var<immediate> dims: Dims;", "", "declare its dims"),
            ("@binding(0)", "@binding(7)", "without gaps"),
            ("@group(0) @binding(0)", "@group(2) @binding(0)", "bound in group 0"),
            ("array<unit>", "array<units>", "units"),
        ] {
            let error = shader_interface(&TEXT.replacen(from, to, 1)).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
    }
}
