//! The state of mechanisms that the stages of hosts work on.

use super::bounded_queues::BoundedQueues;
use super::control::Answers;
use super::flows::Flows;
use super::probes::Probes;
use super::replay::Replay;
use crate::cycle::joints::Joints;

/// Who stands at each joint of hosts.
pub struct Joined;

impl Joints for Joined {
    type Supply = Flows;
    type Replies = Answers;
    type Messages = Replay;
    type Bounds = BoundedQueues;
    type Contents = Probes;
}
