//! Random values of any type, and tangents at values.

use super::Settings;
use crate::interpret::Value;
use crate::ir::{DataId, Type, TypeId, Types};
use crate::stack;
use labrys_search::seed::Rng;
use rand::RngExt as _;

/// Deepest values of sum types, in constructors, where the type allows it.
const DEEPEST: usize = 4;

/// A source of values and tangents.
pub(super) struct Random {
    rng: Rng,
    size: usize,
    range: (f64, f64),
    settings: Settings,
}

impl Random {
    pub(super) fn new(settings: &Settings, sample: u64) -> Self {
        let rng = settings.seed.stream("check-grad", sample);
        Self { rng, size: settings.size, range: settings.range, settings: *settings }
    }

    /// A value of a type; None if there are functions or linear maps in it, or if it has no finite values.
    pub(super) fn value(&mut self, types: &Types, ty: TypeId) -> Option<Value> {
        self.value_below(types, ty, DEEPEST)
    }

    fn value_below(&mut self, types: &Types, ty: TypeId, depth: usize) -> Option<Value> {
        Some(match types.get(ty) {
            Type::Float => Value::Float(self.float(self.range)),
            Type::Integer => Value::Integer(self.rng.random_range(0..self.size.max(1)) as i64),
            Type::Bool => Value::Bool(self.rng.random()),
            Type::String => Value::String("text".into()),
            Type::Tuple(fields) => {
                let fields = types.list(fields).iter().map(|field| self.value_below(types, *field, depth));
                Value::tuple(fields.collect::<Option<_>>()?)
            }
            Type::Tensor(rank, element) => {
                let size = vec![self.size; rank as usize];
                let count = size.iter().product();
                let elements = (0..count).map(|_| self.value_below(types, element, depth));
                Value::tensor(size, elements.collect::<Option<_>>()?)
            }
            Type::Data(data) => self.data(types, data, depth)?,
            Type::Any | Type::Lam(..) | Type::LinearMap(..) => return None,
        })
    }

    /// Any constructor, or the one that ends soonest where the value is deep enough.
    fn data(&mut self, types: &Types, data: DataId, depth: usize) -> Option<Value> {
        let constructors = &types.data(data).constructors;
        let heights: Vec<Option<usize>> =
            constructors.iter().map(|(_, held)| height(types, *held, &mut vec![data])).collect();
        let finite: Vec<usize> = (0..constructors.len()).filter(|number| heights[*number].is_some()).collect();
        let lowest = finite.iter().copied().min_by_key(|number| heights[*number])?;
        let chosen = if depth == 0 { lowest } else { finite[self.rng.random_range(0..finite.len())] };
        let held = self.value_below(types, constructors[chosen].1, depth.saturating_sub(1))?;
        Some(Value::data(chosen as u32, held))
    }

    fn float(&mut self, (low, high): (f64, f64)) -> f64 {
        self.settings.width.float(low + (high - low) * self.rng.random::<f64>())
    }

    /// A tangent at a value, with Floats between -1 and 1.
    pub(super) fn tangent(&mut self, value: &Value) -> Value {
        match value {
            Value::Float(_) => Value::Float(self.float((-1.0, 1.0))),
            Value::Tuple(fields) => Value::tuple(fields.iter().map(|field| self.tangent(field)).collect()),
            Value::Tensor(tensor) => {
                let elements = tensor.elements.iter().map(|element| self.tangent(element)).collect();
                Value::tensor(tensor.size.clone(), elements)
            }
            Value::Data(constructor, held) => stack::grow(|| Value::data(*constructor, self.tangent(held))),
            _ => Value::unit(),
        }
    }
}

/// How many constructors the lowest value of a type has above each other; `open` are those around.
fn height(types: &Types, ty: TypeId, open: &mut Vec<DataId>) -> Option<usize> {
    match types.get(ty) {
        Type::Tuple(fields) => {
            types.list(fields).iter().try_fold(0, |most, field| Some(most.max(height(types, *field, open)?)))
        }
        Type::Tensor(_, element) => height(types, element, open),
        Type::Data(data) if open.contains(&data) => None,
        Type::Data(data) => {
            open.push(data);
            let constructors = types.data(data).constructors.iter();
            let lowest = constructors.filter_map(|(_, held)| height(types, *held, open)).min();
            open.pop();
            lowest.map(|lowest| lowest + 1)
        }
        _ => Some(0),
    }
}
