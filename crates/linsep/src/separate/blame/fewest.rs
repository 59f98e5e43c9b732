//! How few rows can be enough: a lower bound with a proof, and the least set itself where the search comes to its end.
//!
//! A *circuit* is a set of conflicting rows. Every set S whose removal separates the rest has a row of every
//! circuit.
//!
//! * **Packing.** Circuits that share no row bound the cost of S from below by the sum of the least costs in each. (With
//!   costs, a circuit takes its least cost away from each of its rows, and later ones use what is left.)
//! * **Search.** A node is a set R of rows that are out, with a circuit of the others. An S ⊇ R has a row c of that
//!   circuit, so S ⊇ R ∪ {c} ⊇ R′ for every R′ ⊆ R ∪ {c}, the child of c. Children are chosen with the linear program of
//!   [`super::ceiling`], so that few different ones exist; each has a label, and from a node to its child the label falls,
//!   or stays and |R| grows, so no path goes on for ever. Hence S contains a node that was not looked into, and costs at
//!   least as much as that node and a packing of circuits of its other rows.
//!
//! Every circuit that is used has been accepted by the checker; floating-point arithmetic only chooses.

use super::ceiling::{Ceiling, Descender, End, Vertex};
use super::circuits::{Answer, Judge};
use super::ground::Ground;
use super::{Best, Meter};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// A set of kinds that are out, and a circuit of the others.
struct Node {
    /// The kinds that are out, sorted.
    out: Vec<usize>,
    circuit: Vec<usize>,
    vertex: Vertex,
    label: f64,
    cost: u64,
    /// Whether a packing was made for it.
    is_packed: bool,
}

/// The search for the least set.
pub(super) struct Search<'s, 'g, 'a> {
    ground: &'g Ground<'a>,
    judge: &'s mut Judge<'g, 'a>,
    ceiling: &'s Ceiling,
    descender: Descender<'s>,
    best: &'s mut Best<'g, 'a>,
    nodes: Vec<Option<Node>>,
    /// Nodes to look into, those with the least bound first.
    open: BinaryHeap<Reverse<(u64, Reverse<u64>, usize)>>,
    /// The label of every set that is or was a node.
    seen: HashMap<Vec<usize>, f64>,
    /// Sets that could not be looked into cost at least this.
    unsettled: u64,
    bytes: usize,
    memory: usize,
}

impl<'s, 'g, 'a> Search<'s, 'g, 'a> {
    pub(super) fn new(
        ground: &'g Ground<'a>,
        judge: &'s mut Judge<'g, 'a>,
        ceiling: &'s Ceiling,
        best: &'s mut Best<'g, 'a>,
        memory: usize,
    ) -> Self {
        Self {
            ground,
            judge,
            ceiling,
            descender: Descender::new(ceiling),
            best,
            nodes: Vec::new(),
            open: BinaryHeap::new(),
            seen: HashMap::new(),
            unsettled: u64::MAX,
            bytes: 0,
            memory,
        }
    }

    /// Looks into nodes until the least set is found or the budget ends. Gives what every set costs at least.
    pub(super) fn run(mut self, meter: &mut Meter<'_, '_>) -> u64 {
        let mut allowed = vec![true; self.ground.len()];
        let mut vertex = self.ceiling.start(&allowed);
        let end = self.descender.descend(&mut vertex, &allowed, meter);
        self.charge(meter);
        match self.judge.judge(end, &allowed, meter) {
            Answer::Circuit(circuit) => self.add(Vec::new(), circuit, vertex, f64::INFINITY),
            Answer::Separator(w) => {
                self.best.offer(w);
                return 0;
            }
            Answer::Unknown => return 0,
        }
        while let Some(&Reverse((bound, _, id))) = self.open.peek() {
            // What could not be looked into may end the search, unless only the sides that are left are at stake.
            let is_spoilt = bound >= self.unsettled && self.unsettled < self.best.cost();
            if bound >= self.best.limit() || is_spoilt || meter.is_over() || self.bytes > self.memory {
                break;
            }
            self.open.pop();
            let Some(mut node) = self.nodes[id].take() else { continue };
            allowed.fill(true);
            node.out.iter().for_each(|&kind| allowed[kind] = false);
            if !node.is_packed {
                node.is_packed = true;
                let more = self.packing(&node, &allowed, meter);
                let bound = bound.max(node.cost + more);
                if bound < self.best.limit() {
                    self.open.push(Reverse((bound, Reverse(node.cost), id)));
                    self.nodes[id] = Some(node);
                }
                continue;
            }
            self.expand(&node, bound, &mut allowed, meter);
            self.bytes = self.bytes.saturating_sub(node.vertex.bytes());
        }
        let open = self.open.peek().map_or(u64::MAX, |Reverse((bound, _, _))| *bound);
        open.min(self.unsettled).min(self.best.cost())
    }

    fn charge(&mut self, meter: &mut Meter<'_, '_>) {
        meter.spend(std::mem::take(&mut self.descender.work) + std::mem::take(&mut self.judge.work));
    }

    /// A new node: every set that contains it costs as much as it and the cheapest row of its circuit.
    fn add(&mut self, out: Vec<usize>, circuit: Vec<usize>, vertex: Vertex, label: f64) {
        let cost = self.ground.cost(&out);
        let cheapest = circuit.iter().map(|&kind| self.ground.costs[kind]).min().unwrap_or(0);
        self.seen.insert(out.clone(), label);
        if cost + cheapest >= self.best.limit() {
            return;
        }
        self.bytes += vertex.bytes() + 24 * (out.len() + circuit.len()) + 200;
        self.open.push(Reverse((cost + cheapest, Reverse(cost), self.nodes.len())));
        self.nodes.push(Some(Node { out, circuit, vertex, label, cost, is_packed: false }));
    }

    /// Makes the children of a node.
    fn expand(&mut self, node: &Node, bound: u64, allowed: &mut [bool], meter: &mut Meter<'_, '_>) {
        for &next in &node.circuit {
            if meter.is_over() {
                // The children that are missing cost at least what the node does.
                self.unsettled = self.unsettled.min(bound);
                return;
            }
            let mut out = node.out.clone();
            out.insert(out.partition_point(|&kind| kind < next), next);
            let cost = node.cost + self.ground.costs[next];
            if cost >= self.best.limit() {
                continue;
            }
            let mut vertex = node.vertex.clone();
            vertex.release(next);
            allowed[next] = false;
            let end = self.descender.descend(&mut vertex, allowed, meter);
            let mut label = node.label;
            let mut fewer = out.clone();
            if let End::Circuit(_, level) = end
                && level < node.label
            {
                // Rows that lie above the new vertex come back: they change nothing.
                fewer.retain(|&kind| self.descender.slacks[kind] < 0.0);
                label = level;
            }
            let was_circuit = matches!(end, End::Circuit(..));
            let answer = self.judge.judge(end, allowed, meter);
            allowed[next] = true;
            self.charge(meter);
            match answer {
                Answer::Circuit(circuit) => {
                    // A circuit that was found in another way may have rows that would come back.
                    if !was_circuit || circuit.iter().any(|kind| fewer.binary_search(kind).is_ok()) {
                        (fewer, label) = (out, node.label);
                    }
                    match self.seen.get(&fewer) {
                        None => self.add(fewer, circuit, vertex, label),
                        Some(&known)
                            if known < node.label
                                || (known == node.label && fewer.len() > node.out.len()) => {}
                        Some(_) => self.unsettled = self.unsettled.min(cost.max(bound)),
                    }
                }
                Answer::Separator(w) => {
                    self.best.offer(w);
                    if cost < self.best.cost() {
                        self.unsettled = self.unsettled.min(cost.max(bound));
                    }
                }
                Answer::Unknown => self.unsettled = self.unsettled.min(cost.max(bound)),
            }
        }
    }

    /// A lower bound of what must go beside the kinds that are out: circuits that share no row.
    fn packing(&mut self, node: &Node, allowed: &[bool], meter: &mut Meter<'_, '_>) -> u64 {
        let mut packing = Packing::new(self.ground, allowed);
        packing.take_opposites(self.judge);
        if packing.left[node.circuit[0]] && node.circuit.iter().all(|&kind| packing.left[kind]) {
            packing.take(&node.circuit);
        }
        let mut vertex = node.vertex.clone();
        let needed = self.best.limit().saturating_sub(node.cost);
        while packing.total < needed && !meter.is_over() && packing.left.contains(&true) {
            (0..allowed.len()).filter(|&kind| !packing.left[kind]).for_each(|kind| vertex.release(kind));
            let end = self.descender.descend(&mut vertex, &packing.left, meter);
            let found = match end {
                End::Circuit(mut circuit, _) => {
                    circuit.sort_unstable();
                    self.judge.accepts(&circuit).then_some(circuit)
                }
                _ => None,
            };
            self.charge(meter);
            let Some(circuit) = found else { break };
            packing.take(&circuit);
        }
        packing.total
    }
}

/// Circuits that share no row; with costs, no more than each row's cost.
pub(super) struct Packing<'g, 'a> {
    ground: &'g Ground<'a>,
    /// Kinds whose cost is not used up.
    pub(super) left: Vec<bool>,
    residual: Vec<u64>,
    pub(super) total: u64,
}

impl<'g, 'a> Packing<'g, 'a> {
    pub(super) fn new(ground: &'g Ground<'a>, allowed: &[bool]) -> Self {
        let left = allowed.iter().zip(&ground.costs).map(|(&allowed, &cost)| allowed && cost > 0).collect();
        Self { ground, left, residual: ground.costs.clone(), total: 0 }
    }

    /// Takes the least cost of its rows away from all of them.
    pub(super) fn take(&mut self, circuit: &[usize]) {
        let least = circuit.iter().map(|&kind| self.residual[kind]).min().unwrap_or(0);
        self.total += least;
        for &kind in circuit {
            self.residual[kind] -= least;
            self.left[kind] = self.residual[kind] > 0;
        }
    }

    /// Takes the kinds that contradict each other by themselves.
    pub(super) fn take_opposites(&mut self, judge: &mut Judge<'g, 'a>) {
        for pair in &self.ground.opposites {
            if pair.iter().all(|&kind| self.left[kind]) && judge.accepts(pair) {
                self.take(pair);
            }
        }
    }
}

/// A packing of circuits of all kinds; with the linear program, the best of several.
pub(super) fn packing<'g, 'a>(
    ground: &'g Ground<'a>,
    judge: &mut Judge<'g, 'a>,
    ceiling: Option<&Ceiling>,
    needed: u64,
    meter: &mut Meter<'_, '_>,
) -> u64 {
    let mut packing = Packing::new(ground, &vec![true; ground.len()]);
    packing.take_opposites(judge);
    let mut descender = ceiling.map(Descender::new);
    while packing.total < needed && !meter.is_over() && packing.left.contains(&true) {
        let answer = judge.ask(descender.as_mut(), ceiling, &packing.left, meter);
        meter.spend(std::mem::take(&mut judge.work));
        if let Some(descender) = &mut descender {
            meter.spend(std::mem::take(&mut descender.work));
        }
        let Answer::Circuit(circuit) = answer else { break };
        packing.take(&circuit);
    }
    packing.total
}
