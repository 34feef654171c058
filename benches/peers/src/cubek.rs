//! The peer on the GPU: CubeK, on a device that it opens itself on the library's adapter.

use crate::adapter::{check_same, selector};
use crate::case::{Case, Size, Type};
use crate::error::{Error, Result};
use crate::side::{Side, Time};
use bench::definition::{Definition, POISON};
use cubecl::Device;
use cubecl::client::Client;
use cubecl::future::block_on;
use cubecl::ir::{ElemType, FloatKind};
use cubecl::std::tensor::TensorHandle;
use cubecl::wgpu::{AutoGraphicsApi, RuntimeOptions, try_init_setup};
use cubek_matmul::definition::{MatmulElems, MatmulGlobalElems};
use cubek_matmul::launch::launch_ref;
use cubek_matmul::strategy::Strategy;
use cubek_std::InputBinding;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;
use tilewise::Gpu;

const NAME: &str = "CubeK";

/// CubeK on the library's adapter.
pub(crate) struct CubeK {
    client: Client,
}

/// The operands on the host, and how many pairs of them take turns.
pub(crate) struct Operands<'a> {
    pub(crate) a: &'a [u8],
    pub(crate) b: &'a [u8],
    pub(crate) pairs: usize,
}

impl CubeK {
    /// Opens it on the adapter of the library's device.
    pub(crate) fn on_adapter_of(gpu: &Gpu) -> Result<Self> {
        let device = selector(gpu)?;
        let options = RuntimeOptions::try_default().map_err(|why| Error::side(NAME, why))?;
        let setup =
            try_init_setup::<AutoGraphicsApi>(&device, options).map_err(|why| Error::side(NAME, why))?;
        check_same(gpu, &setup.adapter.get_info())?;
        Ok(Self { client: Device::from(device).client() })
    }

    /// How it compiles: `wgpu<wgsl>` or `wgpu<spirv>`.
    pub(crate) fn compiler(&self) -> &'static str {
        self.client.name()
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// Whether it still takes values and returns them.
    pub(crate) fn works(&self) -> bool {
        let sent = [1, 2, 3, 4];
        let back = caught(NAME, || {
            let handle = self.client.create_from_slice(&sent);
            self.client.read_one(handle).map_err(|why| Error::side(NAME, why))
        });
        back.is_ok_and(|back| back[..] == sent)
    }

    /// Products by the strategy that it chooses itself.
    pub(crate) fn auto(&self, case: Case, operands: &Operands<'_>, definition: &Definition) -> Side<'_> {
        self.side("auto".into(), Strategy::Auto, case, operands, definition)
    }

    /// Products by the case's strategy, if it has one.
    pub(crate) fn named(
        &self,
        case: Case,
        operands: &Operands<'_>,
        definition: &Definition,
    ) -> Option<Side<'_>> {
        let strategy = case.strategy?;
        Some(self.side(strategy.to_string(), strategy.peer(), case, operands, definition))
    }

    fn side(
        &self,
        kernel: String,
        strategy: Strategy,
        case: Case,
        operands: &Operands<'_>,
        definition: &Definition,
    ) -> Side<'_> {
        Side::new(NAME, kernel, definition, || {
            let mut products = Products::new(&self.client, strategy, case, operands);
            let c = caught(NAME, || products.first())?;
            let time: Time<'_> = Box::new(move |count| caught(NAME, || products.seconds(count)));
            Ok((c, time))
        })
    }
}

/// Products of pairs of operands that take turns, into one output.
struct Products<'a> {
    client: &'a Client,
    strategy: Strategy,
    elements: MatmulElems,
    pairs: Vec<[(TensorHandle, ElemType); 2]>,
    next: usize,
    c: TensorHandle,
}

impl<'a> Products<'a> {
    fn new(client: &'a Client, strategy: Strategy, case: Case, operands: &Operands<'_>) -> Self {
        let Case { size: Size { m, n, k }, dtype, .. } = case;
        let (operand, product) = (element(dtype), element(Type::F32));
        let tensor = |bytes: &[u8], shape: [usize; 2], element| {
            TensorHandle::new_contiguous(shape, client.create_from_slice(bytes), element)
        };
        let pair = |_| {
            [(operands.a, [m, k]), (operands.b, [k, n])]
                .map(|(x, shape)| (tensor(x, shape, operand), operand))
        };
        let pairs = (0..operands.pairs).map(pair).collect();
        let c = tensor(bytemuck::cast_slice(&vec![POISON; m * n]), [m, n], product);
        let elements =
            MatmulElems::from_globals(&MatmulGlobalElems { lhs: operand, rhs: operand, out: product });
        Self { client, strategy, elements, pairs, next: 0, c }
    }

    /// Computes the first product and reads it.
    fn first(&mut self) -> Result<Vec<f32>> {
        self.launch()?;
        let bytes = self.client.read_one(self.c.handle.clone()).map_err(|why| Error::side(NAME, why))?;
        Ok(bytemuck::pod_collect_to_vec(&bytes))
    }

    fn launch(&mut self) -> Result<()> {
        let [a, b] = &self.pairs[self.next];
        self.next = (self.next + 1) % self.pairs.len();
        let input = |(tensor, element): &(TensorHandle, ElemType)| {
            InputBinding::new(tensor.clone().binding(), *element)
        };
        let (c, mut elements) = (self.c.clone().binding(), self.elements.clone());
        launch_ref(&self.strategy, self.client, input(a), input(b), c, &mut elements)
            .map_err(|why| Error::side(NAME, why))
    }

    /// Seconds on the host's clock to launch this number of products and to wait for them.
    fn seconds(&mut self, count: u64) -> Result<f64> {
        let start = Instant::now();
        for _ in 0..count {
            self.launch()?;
        }
        // Waits, and reports launches that failed: those wrote no output.
        block_on(self.client.sync_buffers([&self.c.handle])).map_err(|why| Error::side(NAME, why))?;
        Ok(start.elapsed().as_secs_f64())
    }
}

/// CubeK's element type.
pub(crate) fn element(dtype: Type) -> ElemType {
    ElemType::Float(match dtype {
        Type::F32 => FloatKind::F32,
        Type::F16 => FloatKind::F16,
    })
}

/// Turns a panic of a peer, which it prints to stderr, into an error.
pub(crate) fn caught<T>(side: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| {
        let said = payload.downcast_ref::<String>().map(String::as_str);
        let said = said.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("no message");
        Err(Error::Side { side: side.into(), why: format!("it panicked: {said}") })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_of_the_peer_is_an_error_with_its_message() {
        let error = caught::<()>(NAME, || panic!("no {}", "luck")).map_err(|error| error.to_string());
        assert_eq!(error, Err("CubeK: it panicked: no luck".into()));
        assert!(caught(NAME, || Ok(1)).is_ok());
    }
}
