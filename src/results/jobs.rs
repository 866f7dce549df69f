//! What runs that differ in seeds only say of jobs, and of the loads beside them.

use super::{Curves, Point};
use crate::measure::precision::Interval;
use crate::report::Verdict;
use crate::report::summary::Summary;

impl Point<'_> {
    /// Mean completion of the job of a class \[cycles\], over the runs in which it is complete.
    pub fn completion(&self, class: &str) -> Option<Interval> {
        self.mean(|summary| {
            let mut whole = summary.jobs.iter().filter(|job| job.application.is_none());
            let job = whole.find(|job| job.class == class)?;
            Some(job.completion? as f64)
        })
    }

    /// The worst that is told of every class without a job, in the order of the classes.
    pub fn beside(&self) -> Vec<(&str, Verdict)> {
        let mut worst: Vec<(&str, Verdict)> = Vec::new();
        for (class, verdict) in self.runs.iter().flat_map(|run| beside(&run.summary)) {
            match worst.iter_mut().find(|(name, _)| *name == class) {
                Some((_, known)) if rank(verdict) > rank(*known) => *known = verdict,
                Some(_) => {}
                None => worst.push((class, verdict)),
            }
        }
        worst
    }
}

impl Curves<'_> {
    /// Classes with a job, where every run has one; else none.
    pub fn jobs(&self) -> Vec<&str> {
        let mut all: Vec<&str> = Vec::new();
        let points = self.curves.iter().flat_map(|curve| &curve.points);
        for run in points.flat_map(|point| &point.runs) {
            if run.summary.jobs.is_empty() {
                return Vec::new();
            }
            let whole = run.summary.jobs.iter();
            for job in whole.filter(|job| job.application.is_none()) {
                if !all.contains(&job.class.as_str()) {
                    all.push(&job.class);
                }
            }
        }
        all
    }
}

/// Classes without a job that have a verdict.
fn beside(summary: &Summary) -> impl Iterator<Item = (&str, Verdict)> {
    let told = summary.classes.iter();
    let told = told.filter_map(|class| Some((class.name.as_str(), class.verdict?)));
    told.filter(|(name, _)| summary.jobs.iter().all(|job| job.class != *name))
}

/// How bad a verdict is.
fn rank(verdict: Verdict) -> usize {
    let all = Verdict::ALL.into_iter();
    all.take_while(|other| *other != verdict).count()
}
