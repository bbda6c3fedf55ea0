//! Checkpoints: what is written comes back, and what is damaged is refused with a reason.

use labrys_nn::{Checkpoint, CheckpointError, Init, Matrix, ModelCard, Params};
use proptest::prelude::*;
use rand::SeedableRng as _;
use rand_pcg::Pcg64Mcg;

fn params() -> Params {
    let (mut params, mut rng) = (Params::new(), Pcg64Mcg::seed_from_u64(1));
    params.add("net.weights", (3, 2), Init::Glorot, &mut rng);
    params.add("net.bias", (1, 2), Init::Constant(0.5), &mut rng);
    params
}

fn checkpoint() -> Checkpoint {
    let mut card = ModelCard {
        format: labrys_nn::checkpoint::FORMAT,
        problem: "placement/makespan".into(),
        training_distribution: "synthetic ops, 50 to 200".into(),
        sizes: (50, 200),
        seed: u64::MAX,
        code_version: "0.1.0".into(),
        measured_gain: "5 % over BRKGA 5K on 100 graphs".into(),
        ..ModelCard::default()
    };
    card.details.insert("hidden".into(), 32.into());
    Checkpoint { card, params: params() }
}

#[test]
fn comes_back_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    checkpoint().save(&path).unwrap();
    let loaded = Checkpoint::load(&path).unwrap();
    assert_eq!(loaded.card, checkpoint().card);
    assert_eq!(loaded.to_bytes().unwrap(), std::fs::read(&path).unwrap());
    let mut restored = params();
    restored.get_mut(restored.find("net.weights").unwrap()).data.fill(0.0);
    loaded.restore(&mut restored).unwrap();
    assert_eq!(restored, params());
}

#[test]
fn another_network_is_refused() {
    let message = |params: &mut Params| checkpoint().restore(params).unwrap_err().to_string();
    let mut more = params();
    more.push("net.more", Matrix::zeros(1, 1));
    assert!(message(&mut more).starts_with("parameter net.more: missing"));
    assert!(message(&mut Params::new()).contains("not part of the network"));
    let mut wider = Params::new();
    wider.push("net.weights", Matrix::zeros(3, 4));
    wider.push("net.bias", Matrix::zeros(1, 2));
    assert!(message(&mut wider).contains("shape (3, 2) instead of (3, 4)"));
}

#[test]
fn reasons_are_given() {
    let missing = Checkpoint::load(std::path::Path::new("/nowhere/model")).unwrap_err();
    assert!(matches!(missing, CheckpointError::File { .. }) && missing.to_string().starts_with("/nowhere/model: "));
    let bytes = checkpoint().to_bytes().unwrap();
    let cut = Checkpoint::from_bytes(&bytes[..bytes.len() - 1]).unwrap_err();
    assert!(matches!(cut, CheckpointError::Damaged { .. }));
    let replaced = |from: &str, to: &str| {
        let text = String::from_utf8_lossy(&bytes[8..]).replacen(from, to, 1);
        assert_eq!(from.len(), to.len());
        let header = text.find("\u{fffd}").unwrap_or(text.len()).min(bytes.len() - 8);
        let mut changed = bytes.clone();
        changed[8..8 + header].copy_from_slice(&text.as_bytes()[..header]);
        Checkpoint::from_bytes(&changed).unwrap_err()
    };
    assert!(matches!(replaced(r#"\"format\":1"#, r#"\"format\":7"#), CheckpointError::Format { found: 7 }));
    assert!(matches!(replaced("labrys.model-card", "labrys.model-bard"), CheckpointError::Card { .. }));
    let mut poisoned = checkpoint();
    poisoned.params.get_mut(poisoned.params.find("net.bias").unwrap()).data[1] = f32::NAN;
    let error = Checkpoint::from_bytes(&poisoned.to_bytes().unwrap()).unwrap_err();
    assert_eq!(error.to_string().split(';').next(), Some("parameter net.bias: holds NaN"));
}

#[test]
fn a_failed_write_leaves_the_old_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("taken");
    std::fs::create_dir(&path).unwrap();
    assert!(checkpoint().save(&path).is_err());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

proptest! {
    #[test]
    fn truncated_files_are_refused(cut in 0.0..1.0f64) {
        let bytes = checkpoint().to_bytes().unwrap();
        let end = (bytes.len() as f64 * cut) as usize;
        prop_assert!(Checkpoint::from_bytes(&bytes[..end]).is_err());
    }

    #[test]
    fn damaged_files_never_panic(places in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8)) {
        let mut bytes = checkpoint().to_bytes().unwrap();
        for (place, byte) in places {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        if let Ok(read) = Checkpoint::from_bytes(&bytes) {
            prop_assert!(read.params.iter().all(|(_, value)| value.data.iter().all(|x| x.is_finite())));
        }
    }

    #[test]
    fn any_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(Checkpoint::from_bytes(&bytes).is_err());
    }
}
