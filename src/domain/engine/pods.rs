//! Role Pods: registered by their own report, live while their process is (DESIGN.md 3, 5.1).

use serde_json::json;

use super::{Effect, Engine, RecordKind};
use crate::domain::facts::{Dirty, Pod, PodId, PodState};
use crate::domain::kick::Boundary;
use crate::domain::ledger::{Attempt, Reached};
use crate::domain::policy::DirtyGate;
use crate::domain::ticket::{State, Timestamp};

impl Engine {
    pub(super) fn pod_reported(&mut self, mut pod: Pod, state: PodState, now: Timestamp) {
        pod.state = state;
        if let Some(known) = self.facts.pods.get_mut(&pod.id)
            && known.process == pod.process
            && known.ticket == pod.ticket
        {
            known.state = state;
            return;
        }
        if self.facts.pods.contains_key(&pod.id) {
            self.pod_ended(&pod.id.clone(), now);
        }
        let data = json!({"pod": pod.id, "role": pod.role, "pid": pod.process.pid, "agent": pod.agent});
        self.record(RecordKind::AgentStarted, pod.ticket.as_ref(), data, now);
        if let Some(ticket) = &pod.ticket {
            self.facts.ended_pods.remove(ticket);
            self.no_longer_seen(ticket);
            self.got(ticket, Reached::Started);
            self.attempted(ticket, Attempt::Delegated);
        }
        if !pod.supervised {
            self.want(Effect::WatchPod(pod.id.clone(), pod.process.clone()));
        }
        self.facts.pods.insert(pod.id.clone(), pod);
        self.look_at_trees(now);
        self.save_pods();
    }

    pub(super) fn pod_ended(&mut self, id: &PodId, now: Timestamp) {
        let Some(pod) = self.facts.pods.remove(id) else { return };
        let data = json!({"pod": pod.id, "role": pod.role, "pid": pod.process.pid, "agent": pod.agent});
        self.record(RecordKind::AgentEnded, pod.ticket.as_ref(), data, now);
        if let Some(ticket) = &pod.ticket {
            self.timers.worker_ended(ticket, now);
            if self.backlog.get(ticket).is_some_and(|t| t.state == Some(State::Inprogress)) {
                self.facts.ended_pods.insert(ticket.clone(), (pod.role.clone(), now));
            }
            // The step that was awaited under this role's name is over with its Pod.
            if let Some(note) = self.work_set.get_mut(ticket)
                && note.awaited.as_ref().is_some_and(|a| a.step.eq_ignore_ascii_case(&pod.role))
            {
                note.awaited = None;
            }
        }
        self.see_all_anew();
        self.reach_boundary(Boundary::DelegateFinished);
        self.look_at_trees(now);
        self.save_pods();
    }

    fn save_pods(&mut self) {
        let pods = self.facts.pods.values().cloned().collect();
        self.want(Effect::SavePods(pods));
    }

    pub(super) fn probe_wanted(&mut self) {
        if self.policy.dirty_workspace != DirtyGate::Off {
            self.want(Effect::Probe);
        }
    }

    pub(super) fn probed(&mut self, dirty: Dirty) {
        if self.facts.dirty != dirty {
            self.facts.dirty = dirty;
            self.gates.judge_all();
        }
    }
}
