//! Types, interned: equal types have equal ids.

use super::name::Symbol;
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

/// An interned [`Type`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TypeId(u32);

/// An interned list of types.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TypeList(u32);

/// A sum type of the program.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct DataId(u32);

/// The type of an expression.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Type {
    /// A real number; 64 bits, or 32 under a switch.
    Float,
    /// A whole number; 64 bits, or 32 under a switch.
    Integer,
    /// True or false.
    Bool,
    /// A text.
    String,
    /// Any type; in rules only.
    Any,
    /// A tuple; the empty one is the tangent of all that is not differentiable.
    Tuple(TypeList),
    /// A tensor of a rank, at least 1. Sizes are run-time values, and the elements of a tensor of tensors may differ in size.
    Tensor(u32, TypeId),
    /// A function from the first to the second, as the argument of a primitive.
    Lam(TypeId, TypeId),
    /// A linear map between the tangent spaces of the two.
    LinearMap(TypeId, TypeId),
    /// A sum type of the program.
    Data(DataId),
}

impl TypeId {
    /// `Float`
    pub const FLOAT: Self = Self(0);
    /// `Integer`
    pub const INTEGER: Self = Self(1);
    /// `Bool`
    pub const BOOL: Self = Self(2);
    /// `String`
    pub const STRING: Self = Self(3);
    /// `Any`
    pub const ANY: Self = Self(4);
    /// `(Tuple)`
    pub const UNIT: Self = Self(5);
}

/// A sum type: a name, and what each constructor holds.
#[derive(Clone, Debug)]
pub struct Data {
    /// Its name.
    pub name: Symbol,
    /// Constructors in the order of the declaration, each with the type of its one argument.
    pub constructors: Vec<(Symbol, TypeId)>,
    /// Its tangent type, once somebody asked for it: itself if every value is its own kind of tangent.
    tangent: Option<DataId>,
    /// The type that this is the tangent type of.
    tangent_of: Option<DataId>,
}

/// The interner of types, and the declarations of sum types.
#[derive(Clone, Debug)]
pub struct Types {
    types: IndexSet<Type, FxBuildHasher>,
    lists: IndexSet<Box<[TypeId]>, FxBuildHasher>,
    data: Vec<Data>,
}

impl Types {
    /// The types that have a constant in [`TypeId`].
    pub fn new() -> Self {
        let mut types = Self { types: IndexSet::default(), lists: IndexSet::default(), data: vec![] };
        for scalar in [Type::Float, Type::Integer, Type::Bool, Type::String, Type::Any] {
            types.intern(scalar);
        }
        types.tuple(&[]);
        types
    }

    fn intern(&mut self, ty: Type) -> TypeId {
        TypeId(self.types.insert_full(ty).0 as u32)
    }

    /// The type of an id.
    pub fn get(&self, id: TypeId) -> Type {
        self.types[id.0 as usize]
    }

    /// The types of a list.
    pub fn list(&self, list: TypeList) -> &[TypeId] {
        &self.lists[list.0 as usize]
    }

    /// A tuple.
    pub fn tuple(&mut self, fields: &[TypeId]) -> TypeId {
        let list = match self.lists.get_index_of(fields) {
            Some(index) => index,
            None => self.lists.insert_full(fields.into()).0,
        };
        self.intern(Type::Tuple(TypeList(list as u32)))
    }

    /// The types of the fields, if this is a tuple.
    pub fn fields(&self, id: TypeId) -> Option<&[TypeId]> {
        match self.get(id) {
            Type::Tuple(list) => Some(self.list(list)),
            _ => None,
        }
    }

    /// A tensor.
    pub fn tensor(&mut self, rank: u32, element: TypeId) -> TypeId {
        self.intern(Type::Tensor(rank, element))
    }

    /// A tensor of rank 1.
    pub fn vec(&mut self, element: TypeId) -> TypeId {
        self.tensor(1, element)
    }

    /// A function.
    pub fn lam(&mut self, from: TypeId, to: TypeId) -> TypeId {
        self.intern(Type::Lam(from, to))
    }

    /// A linear map.
    pub fn linear_map(&mut self, from: TypeId, to: TypeId) -> TypeId {
        self.intern(Type::LinearMap(from, to))
    }

    /// What indexes a tensor of this rank, and what its size is: an Integer, or a tuple of as many.
    pub fn index(&mut self, rank: u32) -> TypeId {
        match rank {
            1 => TypeId::INTEGER,
            _ => self.tuple(&vec![TypeId::INTEGER; rank as usize]),
        }
    }

    /// The rank of the tensors that this type indexes.
    pub fn rank_of_index(&self, id: TypeId) -> Option<u32> {
        match self.fields(id) {
            None => (id == TypeId::INTEGER).then_some(1),
            Some(fields) => (fields.len() > 1 && fields.iter().all(|field| *field == TypeId::INTEGER))
                .then_some(fields.len() as u32),
        }
    }

    /// Declares a sum type; its constructors follow with [`Types::set_constructors`], since they may hold values of the type.
    pub fn declare_data(&mut self, name: Symbol) -> (DataId, TypeId) {
        let id = DataId(self.data.len() as u32);
        self.data.push(Data { name, constructors: vec![], tangent: None, tangent_of: None });
        (id, self.intern(Type::Data(id)))
    }

    /// Completes [`Types::declare_data`].
    pub fn set_constructors(&mut self, id: DataId, constructors: Vec<(Symbol, TypeId)>) {
        self.data[id.0 as usize].constructors = constructors;
    }

    /// A sum type.
    pub fn data(&self, id: DataId) -> &Data {
        &self.data[id.0 as usize]
    }

    /// Every sum type that a program declares, in order.
    pub fn declared_data(&self) -> impl Iterator<Item = DataId> {
        let is_declared = |id: &DataId| self.data(*id).tangent_of.is_none() && !self.data(*id).constructors.is_empty();
        (0..self.data.len() as u32).map(DataId).filter(is_declared)
    }

    /// The sum type that this one, different from it, is the tangent type of.
    pub fn base_of_tangent(&self, id: DataId) -> Option<DataId> {
        self.data(id).tangent_of
    }

    /// The type of a sum type.
    pub fn data_type(&mut self, id: DataId) -> TypeId {
        self.intern(Type::Data(id))
    }

    /// The tangent of a type: `Float` is its own, `Integer`, `Bool` and `String` have none, the rest goes by its parts. A sum type
    /// has a sum type with the same constructors.
    pub fn tangent(&mut self, id: TypeId) -> TypeId {
        match self.get(id) {
            Type::Float | Type::Any => id,
            Type::Integer | Type::Bool | Type::String => TypeId::UNIT,
            Type::Tuple(list) => {
                let fields: Vec<TypeId> = self.list(list).to_vec().iter().map(|field| self.tangent(*field)).collect();
                self.tuple(&fields)
            }
            Type::Tensor(rank, element) => {
                let element = self.tangent(element);
                self.tensor(rank, element)
            }
            Type::Lam(from, to) => {
                let (from, to) = (self.tangent(from), self.tangent(to));
                self.lam(from, to)
            }
            Type::LinearMap(..) => id,
            Type::Data(data) => self.tangent_data(data),
        }
    }

    /// The tangent of a sum type, declared when it is first asked for.
    fn tangent_data(&mut self, id: DataId) -> TypeId {
        if let Some(tangent) = self.data(id).tangent {
            return self.data_type(tangent);
        }
        let Data { name, constructors, .. } = self.data(id).clone();
        // Provisionally a new type, so that recursion finds it; if it comes out equal to the original, that is its own tangent.
        let (tangent, tangent_type) = self.declare_data(name);
        self.data[id.0 as usize].tangent = Some(tangent);
        self.data[tangent.0 as usize].tangent = Some(tangent);
        let parts: Vec<_> = constructors.iter().map(|(name, held)| (*name, self.tangent(*held))).collect();
        let own = self.data_type(id);
        let is_same = parts.iter().zip(&constructors).all(|(new, old)| self.same_but(new.1, old.1, tangent_type, own));
        if is_same {
            self.data[id.0 as usize].tangent = Some(id);
            self.data[tangent.0 as usize].tangent = Some(id);
            return own;
        }
        self.set_constructors(tangent, parts);
        self.data[tangent.0 as usize].tangent_of = Some(id);
        tangent_type
    }

    /// Whether two types are equal once `provisional` is read as `own`.
    fn same_but(&self, new: TypeId, old: TypeId, provisional: TypeId, own: TypeId) -> bool {
        if new == provisional {
            return old == own;
        }
        match (self.get(new), self.get(old)) {
            (Type::Tuple(a), Type::Tuple(b)) => {
                let (a, b) = (self.list(a), self.list(b));
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| self.same_but(*a, *b, provisional, own))
            }
            (Type::Tensor(m, a), Type::Tensor(n, b)) => m == n && self.same_but(a, b, provisional, own),
            _ => new == old,
        }
    }

    /// Whether this is a tuple of one or more fields of one type.
    pub fn is_uniform_tuple(&self, id: TypeId) -> bool {
        self.fields(id)
            .is_some_and(|fields| fields.first().is_some_and(|first| fields.iter().all(|field| field == first)))
    }

    /// Whether values of the type can be added: there is no Bool and no String in it.
    pub fn is_additive(&self, id: TypeId) -> bool {
        match self.get(id) {
            Type::Bool | Type::String | Type::Lam(..) => false,
            Type::Tuple(list) => self.list(list).iter().all(|field| self.is_additive(*field)),
            Type::Tensor(_, element) => self.is_additive(element),
            // Constructors are compared when the program runs, and what they hold may be of the type itself.
            Type::Float | Type::Integer | Type::Any | Type::LinearMap(..) | Type::Data(_) => true,
        }
    }

    /// Whether all values of the type have the same shape, so that its zero needs no example.
    pub fn has_trivial_shape(&self, id: TypeId) -> bool {
        match self.get(id) {
            Type::Float | Type::Integer | Type::Bool | Type::String => true,
            Type::Tuple(list) => self.list(list).iter().all(|field| self.has_trivial_shape(*field)),
            _ => false,
        }
    }

    /// The type of `(shape x)`: `(Tuple)` where all values have one shape, the size of a tensor of such, otherwise by parts.
    pub fn shape(&mut self, id: TypeId) -> TypeId {
        if self.has_trivial_shape(id) {
            return TypeId::UNIT;
        }
        match self.get(id) {
            Type::Tuple(list) => {
                let fields: Vec<TypeId> = self.list(list).to_vec().iter().map(|field| self.shape(*field)).collect();
                self.tuple(&fields)
            }
            Type::Tensor(rank, element) if self.has_trivial_shape(element) => self.index(rank),
            Type::Tensor(rank, element) => {
                let element = self.shape(element);
                self.tensor(rank, element)
            }
            // A sum type is its own shape.
            _ => id,
        }
    }

    /// The type with every leaf replaced by `(Tuple)`: what `buildFromSparse` takes in the place of a size.
    pub fn skeleton(&mut self, id: TypeId) -> TypeId {
        match self.get(id) {
            Type::Tuple(list) => {
                let fields: Vec<TypeId> = self.list(list).to_vec().iter().map(|field| self.skeleton(*field)).collect();
                self.tuple(&fields)
            }
            Type::Tensor(rank, element) => {
                let element = self.skeleton(element);
                self.tensor(rank, element)
            }
            Type::Data(_) => id,
            _ => TypeId::UNIT,
        }
    }
}

impl Default for Types {
    fn default() -> Self {
        Self::new()
    }
}
