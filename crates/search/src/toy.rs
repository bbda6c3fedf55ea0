//! A small space for tests, small enough to see all of it.

use crate::space::Space;

/// Numbers below 2000, by steps: half of an even one, seven more, three times and one more. The cost is a 64th of the number: exact, and
/// small beside what MCTS adds for unknown states.
#[derive(Default)]
pub(crate) struct Numbers {
    pub(crate) advice: Advice,
    pub(crate) only_halves: bool,
}

const MOST: u32 = 2000;
const STEPS: [char; 3] = ['*', '+', '/'];

/// What a guide says: the truth, or nothing of use.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Advice {
    #[default]
    None,
    Perfect,
    Reversed,
    NotANumber,
    Infinite,
    WrongLength,
}

impl Advice {
    pub(crate) const ALL: [Self; 6] =
        [Self::None, Self::Perfect, Self::Reversed, Self::NotANumber, Self::Infinite, Self::WrongLength];
}

impl Numbers {
    pub(crate) fn take(state: u32, step: char) -> Option<u32> {
        match step {
            '/' => state.is_multiple_of(2).then_some(state / 2),
            '+' => Some(state + 7).filter(|state| *state < MOST),
            _ => Some(3 * state + 1).filter(|state| *state < MOST),
        }
    }
}

/// The least cost within so many steps.
pub(crate) fn exhaustive(root: u32, horizon: u32) -> f64 {
    let mut seen = std::collections::BTreeSet::from([root]);
    for _ in 0..horizon {
        let next = seen.iter().flat_map(|state| STEPS.iter().filter_map(|step| Numbers::take(*state, *step)));
        let next: Vec<u32> = next.collect();
        seen.extend(next);
    }
    cost(*seen.first().unwrap_or(&root))
}

pub(crate) fn cost(state: u32) -> f64 {
    f64::from(state) / 64.0
}

impl Space for Numbers {
    type State = u32;
    type Step = char;

    fn cost(&mut self, state: u32) -> f64 {
        cost(state)
    }

    fn steps(&mut self, state: u32, out: &mut Vec<(char, u32)>) {
        let allowed: &[char] = if self.only_halves { &['/'] } else { &STEPS };
        out.extend(allowed.iter().filter_map(|step| Some((*step, Self::take(state, *step)?))));
    }

    fn values(&mut self, states: &[u32], horizon: u32, out: &mut Vec<f32>) {
        for state in states {
            for t in 0..=horizon {
                let truth = || (cost(*state) - exhaustive(*state, t)) as f32 / t.max(1) as f32;
                out.extend(match self.advice {
                    Advice::None => None,
                    Advice::Perfect => Some(truth()),
                    Advice::Reversed => Some(-truth()),
                    Advice::NotANumber => Some(f32::NAN),
                    Advice::Infinite => Some(f32::INFINITY),
                    Advice::WrongLength => (t > 0).then_some(1.0),
                });
            }
        }
    }
}
