//! The quick form of a scenario: a thinner sweep and the claims that it can be held to, for `virtlane reproduce --quick`.

use super::sections::sweep::written_group;
use super::sections::{Expectation, Sweep};
use super::{Document, ScenarioError};

impl Document {
    /// The scenario with what `sweep.quick` says of it; as it is where that says nothing.
    ///
    /// # Errors
    /// When the scenario is wrong, as it is or with the changes.
    pub fn quick(mut self) -> Result<Self, ScenarioError> {
        let scenario = self.scenario()?;
        let Some((sweep, quick)) = scenario
            .sweep
            .as_ref()
            .and_then(|sweep| Some((sweep, sweep.quick.as_ref()?)))
        else {
            return Ok(self);
        };
        let thinned = sweep.thinned(quick);
        let groups: Vec<_> = thinned.iter().map(|group| written_group(group)).collect();
        let left = Sweep {
            axes: thinned,
            ..sweep.clone()
        };
        let is_left = |claim: &Expectation| claim.quick && claim.check(Some(&left)).is_ok();
        let claims: Vec<bool> = scenario.expect.iter().map(is_left).collect();
        // claims go first: they are checked against the axes
        self.retain_claims(&claims);
        self.assign("sweep.axes", &format!("[{}]", groups.join(", ")))?;
        self.assign(
            "sweep.seeds",
            &quick.seeds.unwrap_or(sweep.seeds.value).to_string(),
        )?;
        self.assign("sweep.quick", "None")?;
        for (path, value) in &quick.set {
            self.assign(&path.value, &value.value)?;
        }
        self.scenario()?;
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(quick: &str) -> Document {
        let mut document = Document::embedded();
        let sweep = format!(
            "(axes: [Zip([(\"traffic.0.process.load\", [0.1, 0.5, 0.9]), (\"fabric.switch.lanes\", [2, 4, 8])]), \
             (\"traffic.0.size\", [\"64 B\", \"128 B\"])], seeds: 4, quick: {quick})"
        );
        document.assign("sweep", &sweep).unwrap();
        let claim = |rest: &str| {
            format!("(metric: \"load.accepted\", relation: AtLeast, value: 0, {rest})")
        };
        let claims = [
            "claim: \"all\"",
            "claim: \"left\", at: [(\"fabric.switch.lanes\", 4)]",
            "claim: \"gone\", at: [(\"fabric.switch.lanes\", 2)]",
            "claim: \"over gone\", over: [(\"traffic.0.process.load\", 0.9)]",
            "claim: \"not significant\", quick: false",
        ];
        let claims = claims.map(claim).join(", ");
        document.assign("expect", &format!("[{claims}]")).unwrap();
        document
    }

    #[test]
    fn points_and_claims_are_thinned() {
        let quick = "(seeds: 2, values: [(\"traffic.0.process.load\", [0.5])], set: [(\"phases.measure\", \"777 cycles\")])";
        let quick = document(quick).quick().unwrap();
        let scenario = quick.scenario().unwrap();
        let sweep = scenario.sweep.as_ref().unwrap();
        let values = |axis: &super::super::sections::sweep::Axis| {
            let values = axis.values.iter().map(|value| value.value.clone());
            values.collect::<Vec<_>>()
        };
        assert_eq!(sweep.seeds.value, 2);
        assert_eq!(values(&sweep.axes[0][0]), ["0.5"]);
        assert_eq!(values(&sweep.axes[0][1]), ["4"], "what advances with it");
        assert_eq!(values(&sweep.axes[1][0]).len(), 2);
        let claims = scenario.expect.iter().map(|claim| claim.claim.as_str());
        assert_eq!(claims.collect::<Vec<_>>(), ["all", "left"]);
        assert!(quick.to_text().contains("777 cycles"));
    }

    #[test]
    fn without_it_nothing_changes() {
        let whole = document("None");
        let quick = whole.clone().quick().unwrap();
        assert_eq!(quick.to_text(), whole.to_text());
    }

    #[test]
    fn what_the_sweep_does_not_have_is_refused() {
        let message = |quick: &str| document(quick).scenario().unwrap_err().to_string();
        let text = message("(values: [(\"fabric.switch.lane\", [2])])");
        assert!(
            text.contains("did you mean `fabric.switch.lanes`?"),
            "{text}"
        );
        let text = message("(values: [(\"fabric.switch.lanes\", [3])])");
        assert!(text.contains("has no value 3: 2, 4, 8"), "{text}");
        let wrong = document("(set: [(\"phases.measured\", \"7 cycles\")])");
        let text = wrong.quick().unwrap_err().to_string();
        assert!(text.contains("did you mean `measure`?"), "{text}");
    }
}
