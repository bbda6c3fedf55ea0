//! Primitives: what the language offers without a definition.

/// How a primitive takes its arguments. `(f x y)` and `(f (tuple x y))` are the same call, for primitives too.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arity {
    /// One argument of any type: several make a tuple.
    One,
    /// Exactly so many: one argument that is a tuple is taken apart.
    Exactly(usize),
    /// `$check`: five, or six in older programs.
    Check,
    /// As many as there are.
    Any,
}

macro_rules! primitives {
    ($($variant:ident $name:literal $arity:expr, $usage:literal;)*) => {
        /// A primitive. Most work on several types; [`super::prim_type`] has their typing rules.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Prim {
            $(#[doc = concat!("`", $usage, "`")] $variant,)*
        }

        impl Prim {
            /// Every primitive.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// As programs write it.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// The primitive of a name.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$variant),)* _ => None }
            }

            /// How it takes its arguments.
            pub fn arity(self) -> Arity {
                match self { $(Self::$variant => $arity,)* }
            }

            /// How to call it, with the types: for messages and the reference.
            pub fn usage(self) -> &'static str {
                match self { $(Self::$variant => $usage,)* }
            }
        }
    };
}

use Arity::{Any, Check as CheckArity, Exactly, One};

primitives! {
    // Functions of scalars: these are names like those of a program, which may overload and redefine them.
    Neg "neg" One, "(neg x) : N, with x : N, N = Float or Integer";
    Add "add" Exactly(2), "(add x y) : N, with x y : N, N = Float or Integer";
    Sub "sub" Exactly(2), "(sub x y) : N, with x y : N, N = Float or Integer";
    Mul "mul" Exactly(2), "(mul x y) : N, with x y : N, N = Float or Integer";
    Div "div" Exactly(2), "(div x y) : N, with x y : N, N = Float or Integer; Integers towards zero";
    Pow "pow" Exactly(2), "(pow x n) : Float, with x : Float, n : Integer or Float";
    Gt "gt" Exactly(2), "(gt x y) : Bool, with x y : N, N = Float or Integer";
    Lt "lt" Exactly(2), "(lt x y) : Bool, with x y : N, N = Float or Integer";
    Gte "gte" Exactly(2), "(gte x y) : Bool, with x y : N, N = Float or Integer";
    Lte "lte" Exactly(2), "(lte x y) : Bool, with x y : N, N = Float or Integer";
    And "and" Exactly(2), "(and p q) : Bool, with p q : Bool, both computed";
    Or "or" Exactly(2), "(or p q) : Bool, with p q : Bool, both computed";
    Abs "abs" One, "(abs x) : Float, with x : Float";
    Exp "exp" One, "(exp x) : Float, with x : Float";
    Log "log" One, "(log x) : Float, with x : Float";
    Sin "sin" One, "(sin x) : Float, with x : Float";
    Cos "cos" One, "(cos x) : Float, with x : Float";
    Sinh "sinh" One, "(sinh x) : Float, with x : Float";
    Cosh "cosh" One, "(cosh x) : Float, with x : Float";
    Tanh "tanh" One, "(tanh x) : Float, with x : Float";
    Sqrt "sqrt" One, "(sqrt x) : Float, with x : Float";
    Erf "erf" One, "(erf x) : Float, with x : Float";
    Lgamma "lgamma" One, "(lgamma x) : Float, with x : Float; the logarithm of |gamma(x)|";
    Polygamma "polygamma" Exactly(2), "(polygamma n x) : Float, with n : Integer, x : Float; the derivative n+1 of lgamma";
    ToFloat "to_float" One, "(to_float i) : Float, with i : Integer";
    Ranhashdoub "$ranhashdoub" One, "($ranhashdoub i) : Float, with i : Integer; a hash in [0, 1)";

    // Tensors.
    Build "build" Exactly(2), "(build n (lam (i : N) e)) : (Tensor r T), with n : N, N = Integer or a tuple of r Integers, e : T";
    Sumbuild "sumbuild" Exactly(2), "(sumbuild n (lam (i : N) e)) : T, with n : N, N = Integer or a tuple of Integers, e : T";
    Sumbuild4 "sumbuild$4" Exactly(2), "(sumbuild$4 n (lam (i : Integer) e)) : Float, with n : Integer, e : Float; sumbuild in 4 lanes";
    Sumbuild8 "sumbuild$8" Exactly(2), "(sumbuild$8 n (lam (i : Integer) e)) : Float, with n : Integer, e : Float; sumbuild in 8 lanes";
    Fold "fold" Exactly(3), "(fold (lam (acc_x : (Tuple A X)) e) init v) : A, with e init : A, v : (Vec X)";
    Map "map" Exactly(2), "(map (lam (x : X) e) t) : (Tensor r T), with t : (Tensor r X), e : T";
    Map2 "map2" Exactly(3), "(map2 (lam (x_y : (Tuple X Y)) e) s t) : (Tensor r T), with s : (Tensor r X), t : (Tensor r Y), e : T";
    Index "index" Exactly(2), "(index i t) : T, with t : (Tensor r T), i : Integer or a tuple of r Integers";
    Size "size" One, "(size t) : Integer or a tuple of r Integers, with t : (Tensor r T)";
    Sum "sum" One, "(sum t) : T, with t : (Tensor r T)";
    Unzip "unzip" One, "(unzip t) : (Tuple (Tensor r A) (Tensor r B) ...), with t : (Tensor r (Tuple A B ...))";
    Delta "delta" Exactly(3), "(delta i j e) : T, with i j : Integer or tuples of Integers, e : T; e if i = j, else zero";
    DeltaVec "deltaVec" Exactly(3), "(deltaVec n i e) : (Tensor r T), with n i : Integer or tuples of r Integers, e : T";
    Diag "diag" Exactly(3), "(diag n m (lam (i : Integer) e)) : (Vec (Vec T)), with n m : Integer, e : T";
    ConstVec "constVec" Exactly(2), "(constVec n e) : (Tensor r T), with n : Integer or a tuple of r Integers, e : T";
    VecInit "Vec_init" Any, "(Vec_init e ...) : (Vec T), with every e : T, at least one";
    BuildFromSparse "buildFromSparse" Exactly(3), "(buildFromSparse n m (lam (j : M) (tuple i e))) : (Tensor r T), with m : M, i an index of rank r, e : T, n a size of rank r or the result with () for each element";
    BuildFromSparseTupled "buildFromSparseTupled" Exactly(3), "(buildFromSparseTupled (tuple n ...) m (lam (j : M) (tuple (tuple i e) ...))) : (Tuple (Tensor r T) ...), each field as buildFromSparse";
    Shape "shape" One, "(shape x) : () for scalars, the size for tensors of scalars, else by parts";

    // Tangent spaces.
    TsNeg "ts_neg" One, "(ts_neg x) : T, with x : T";
    TsAdd "ts_add" Exactly(2), "(ts_add x dx) : T, with x : T, dx of the tangent type of T";
    TsScale "ts_scale" Exactly(2), "(ts_scale r x) : T, with r : Float, x : T";
    TsDot "ts_dot" Exactly(2), "(ts_dot x y) : Float, with x y : T";
    Zero "$zero" One, "($zero x) : the tangent type of T, with x : T; the zero that has the shape of x";

    // Any type.
    Eq "eq" Exactly(2), "(eq x y) : Bool, with x y : T";
    Ne "ne" Exactly(2), "(ne x y) : Bool, with x y : T";
    Print "print" Any, "(print e ...) : Integer, the number of arguments";
    Trace "$trace" One, "($trace e) : T, with e : T; prints e";
    Inline "$inline" One, "($inline e) : T, with e : T; inlines the call e";
    Copydown "$copydown" One, "($copydown e) : T, with e : T; frees what e allocated";
    Check "$check" CheckArity, "($check f rev_f s ds dt) : Float, with f : (Lam S T), rev_f : (Lam (Tuple S dT) dS), s : S, ds : dS, dt : dT";

    // What reverse mode is made of.
    Accumulate "$accumulate" Exactly(2), "($accumulate z (lam (acc : T) e)) : (Tuple T E), with z : T, e : E; what acc, which starts as z, has become, and e";
    AddTo "$addTo" Exactly(2), "($addTo p dx) : (Tuple), with p dx : T; adds to p, which is acc of $accumulate, or an index or a field of it";
    MapAccum "$mapAccum" Exactly(3), "($mapAccum (lam (acc_x : (Tuple A X)) (tuple e y)) init v) : (Tuple A (Vec Y)), with e init : A, y : Y, v : (Vec X)";

    // Linear maps.
    LmApply "lmApply" Exactly(2), "(lmApply m ds) : dT, with m : (LM S T), ds : dS";
    LmApplyR "lmApplyR" Exactly(2), "(lmApplyR dt m) : dS, with m : (LM S T), dt : dT";
    LmVCat "lmVCat" Any, "(lmVCat m ...) : (LM S (Tuple T ...)), with each m : (LM S T)";
    LmHCat "lmHCat" Any, "(lmHCat m ...) : (LM (Tuple S ...) T), with each m : (LM S T)";
    LmVCatV "lmVCatV" One, "(lmVCatV t) : (LM S (Tensor r T)), with t : (Tensor r (LM S T))";
    LmHCatV "lmHCatV" One, "(lmHCatV t) : (LM (Tensor r S) T), with t : (Tensor r (LM S T))";
    LmCompose "lmCompose" Exactly(2), "(lmCompose m n) : (LM A C), with m : (LM B C), n : (LM A B)";
    LmAdd "lmAdd" Exactly(2), "(lmAdd m n) : (LM S T), with m n : (LM S T)";
    LmScale "lmScale" Exactly(2), "(lmScale x r) : (LM T T), with x : T, of which only the shape matters, r : Float";
    LmScaleR "lmScaleR" One, "(lmScaleR x) : (LM Float T), with x : T";
    LmDot "lmDot" One, "(lmDot x) : (LM T Float), with x : T";
    LmZero "lmZero" Exactly(2), "(lmZero x y) : (LM S T), with x : S, y : T, of which only the shape matters";
    LmOne "lmOne" One, "(lmOne x) : (LM T T), with x : T, of which only the shape matters";
    LmVariant "lmVariant" One, "(lmVariant m) : (LM S T), with m : (LM S T), one of several that a condition chooses from";
    LmFold "lmFold" Exactly(5), "(lmFold z f g init v) : (LM (Tuple S (Tuple A (Vec X))) A), with f : (Lam (Tuple A X) A), g : (Lam (Tuple A X) (LM (Tuple S (Tuple A X)) A)), z : dS, init : A, v : (Vec X)";
}

impl Prim {
    /// Whether this is a function of scalars: an ordinary name, which a program may overload, redefine, and derive from.
    pub fn is_function(self) -> bool {
        self <= Self::Ranhashdoub
    }

    /// Partial sums of a sum over indices: one, or a power of two. None for what is no such sum.
    ///
    /// In L lanes term i goes to lane i mod L, each lane starting from -0.0; then the upper half of the lanes is added to the lower one until one
    /// is left. Terms are computed in the order of their indices.
    pub fn lanes(self) -> Option<usize> {
        match self {
            Self::Sumbuild => Some(1),
            Self::Sumbuild4 => Some(4),
            Self::Sumbuild8 => Some(8),
            _ => None,
        }
    }

    /// Whether it takes a size and a lambda that is given the indices below it.
    pub fn is_over_indices(self) -> bool {
        self == Self::Build || self.lanes().is_some()
    }
}
