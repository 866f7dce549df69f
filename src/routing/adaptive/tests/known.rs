//! What is known of functions: wrong ones are named, lanes, hops and frequencies of the engines.

use super::*;

/// What is wrong about a function, one way of being wrong after the other.
#[derive(Debug)]
struct Wrong(u8);

impl Legs for Wrong {
    fn width(&self) -> u8 {
        2
    }
    fn selection(&self) -> Selection {
        if self.0 == 4 {
            Selection::Open
        } else {
            Selection::First
        }
    }
    fn starts(&self, _: SwitchId, _: SwitchId, leg: Leg, found: &mut Vec<u16>) {
        found.extend((leg == Leg::Last).then_some(u16::from(self.0 == 5)));
    }
    fn ways(&self, at: SwitchId, goal: SwitchId, _: u16, found: &mut Vec<Candidate>) {
        // on a ring: + all the way round, unless something is wrong
        let port = match self.0 {
            1 if goal.0 == 3 => 1 + (at.0 % 2) as u16,
            2 => 3,
            _ => 1,
        };
        let lane = if self.0 == 3 { 2 } else { 0 };
        if self.0 != 0 {
            found.push(Candidate {
                port,
                lane,
                escape: false,
            });
        }
    }
}

#[test]
fn wrong_functions_are_named() {
    let graph = grid(&[5], true, 1);
    let budget = LaneBudget {
        lanes: 2,
        service_levels: 1,
    };
    let complaints = [
        "there is no way on",
        "packets may go round and come back",
        "port 3 leads to no switch",
        "lane 2 is used, a group has 2",
        "there is no escape lane",
        "word 1 is used, there are 1",
        "promises shortest paths",
    ];
    for (number, complaint) in (0..).zip(complaints) {
        let legs = Wrong(number);
        let adaptive = Adaptive::by_legs(&graph, "Wrong", legs, budget, [true, true]).unwrap();
        let error = prove(&graph, &adaptive).unwrap_err().to_string();
        assert!(error.contains(complaint), "{error}");
    }
    let adaptive = Adaptive::by_legs(&graph, "Wrong", Wrong(7), budget, [false, true]).unwrap();
    let error = prove(&graph, &adaptive).unwrap_err().to_string();
    assert!(error.contains("wait in a circle"), "{error}");
}

#[test]
fn lanes_hops_and_words_are_the_known_ones() {
    let lanes = |graph: &Graph, text| adapt(graph, text).unwrap().routing.width();
    let torus = grid(&[8, 8], true, 1);
    let mesh = grid(&[8, 8], false, 1);
    for (text, on_torus, on_mesh) in [
        ("Valiant()", 4, 2),
        ("Goal()", 3, 2),
        ("Goal(inside: DimensionOrder)", 2, 1),
        ("MinimalAdaptive(adaptive_lanes: 3)", 5, 4),
        ("Romm()", 4, 2),
        ("XyYx()", 4, 2),
    ] {
        assert_eq!(
            (lanes(&torus, text), lanes(&mesh, text)),
            (on_torus, on_mesh),
            "{text}"
        );
    }
    let longest =
        |graph: &Graph, text| prove(graph, &adapt(graph, text).unwrap()).unwrap().max_hops;
    assert_eq!(longest(&mesh, "Goal()"), 14);
    assert_eq!(longest(&torus, "Goal()"), 14);
    assert_eq!(longest(&torus, "MinimalAdaptive()"), 8);
    assert_eq!(longest(&mesh, "Valiant()"), 28);
    assert_eq!(longest(&mesh, "Romm()"), 14);
    assert_eq!(longest(&torus, "Romm()"), 8);
    assert_eq!(longest(&torus, "XyYx()"), 8);
    assert_eq!(longest(&mesh, "PlanarAdaptive()"), 14);
    let cube = grid(&[3, 3, 3], false, 1);
    assert_eq!(lanes(&cube, "PlanarAdaptive()"), 3);
    assert_eq!(longest(&cube, "PlanarAdaptive()"), 6);
    assert_eq!(lanes(&grid(&[4], false, 1), "PlanarAdaptive()"), 1);
    let error = adapt(&torus, "PlanarAdaptive()").unwrap_err();
    assert!(error.to_string().contains("it is no mesh"), "{error}");
    let error = adapt(&tree(2, 2), "Romm()").unwrap_err();
    assert!(error.to_string().contains("no mesh, torus"), "{error}");
    let dragonfly = built("Dragonfly(p: 1, a: 4, h: 2)");
    assert_eq!(
        (lanes(&dragonfly, "Ugal()"), longest(&dragonfly, "Ugal()")),
        (3, 5)
    );
    let error = adapt(&mesh, "AdaptiveAscent()").unwrap_err();
    assert!(error.to_string().contains("no regular tree"), "{error}");
}

/// Ports that a function keeps in lists are its candidates, in the same order.
#[test]
fn ports_in_lists_are_the_candidates() {
    let whole = tree(3, 3);
    let torn = without_link(&whole, 40);
    let (mut found, mut several) = (Vec::new(), 0);
    for (graph, text) in [&whole, &torn]
        .into_iter()
        .flat_map(|graph| TEXTS.map(|text| (graph, text)))
    {
        let Ok(adaptive) = adapt(graph, text) else {
            continue;
        };
        let pairs = graph
            .switch_ids()
            .flat_map(|at| graph.host_ids().map(move |host| (at, host)));
        for (at, host) in pairs {
            let Some(ports) = adaptive.routing.ports(at, host, Course::STRAIGHT) else {
                continue;
            };
            (adaptive.routing).candidates(at, host, Course::STRAIGHT, &mut found);
            let expected: Vec<_> = ports.iter().map(|&port| Candidate::at(port)).collect();
            assert_eq!(found, expected, "{text}");
            several += u32::from(ports.len() > 1);
        }
    }
    assert!(several > 100, "{several}");
}

/// C23: on a ring of 8 the long direction is taken with probability D / 8.
#[test]
fn goal_takes_the_long_direction_as_often_as_it_says() {
    let torus = grid(&[8, 8], true, 1);
    let adaptive = adapt(&torus, "Goal()").unwrap();
    let mut dice = Dice(stream(11, Purpose::Adaptive, 0).into());
    for hops in 1..=4u32 {
        let (mut long, draws) = (0, 40_000);
        for i in 0..draws {
            let source = SwitchId(i % 64);
            let there = (source.0 % 8 + hops) % 8 + source.0 / 8 * 8;
            let course = adaptive.routing.depart(source, HostId(there), &mut dice);
            long += u32::from(course.word & 1 == 0);
        }
        let share = f64::from(long) / f64::from(draws);
        let expected = f64::from(hops) / 8.0;
        // five standard deviations; the check asks for 0.02
        let tolerance = 5.0 * (expected * (1.0 - expected) / f64::from(draws)).sqrt();
        assert!((share - expected).abs() < tolerance, "{hops} hops: {share}");
    }
}

/// Switches of the minimal quadrant are drawn alike, and no others.
#[test]
fn romm_draws_all_switches_between_alike() {
    let mesh = grid(&[8, 8], false, 1);
    let adaptive = adapt(&mesh, "Romm()").unwrap();
    let mut dice = Dice(stream(3, Purpose::Adaptive, 0).into());
    let (source, destination, draws) = (SwitchId(2 + 8), HostId(4 + 8 * 3), 45_000);
    let mut counts = BTreeMap::new();
    for _ in 0..draws {
        let course = adaptive.routing.depart(source, destination, &mut dice);
        *counts.entry(course.via).or_insert(0) += 1;
    }
    let straight = counts.remove(&Course::DIRECT).unwrap();
    let inner: BTreeSet<u32> = counts.keys().copied().collect();
    assert_eq!(inner, BTreeSet::from([11, 12, 18, 19, 20, 26, 27]));
    // five standard deviations of one ninth, and of two
    assert!(
        counts
            .values()
            .all(|&count: &i32| count.abs_diff(5000) < 335),
        "{counts:?}"
    );
    assert!(straight.abs_diff(10_000) < 445, "{straight}");
}

/// On an empty mesh the two orders are drawn alike; `Pair` keeps to one per pair, both over all pairs; `LeastLoad`
/// avoids the first hop that is busy.
#[test]
fn xy_yx_chooses_as_it_says() {
    struct Busy(u16);
    impl Local for Busy {
        fn load(&self, port: u16, _: u8) -> u32 {
            u32::from(port == self.0)
        }
        fn below(&mut self, _: u32) -> u32 {
            0
        }
    }
    let mesh = grid(&[8, 8], false, 1);
    let word = |text, source, there, local: &mut dyn Local| {
        let routing = adapt(&mesh, text).unwrap().routing;
        routing.depart(SwitchId(source), HostId(there), local).word
    };
    let mut dice = Dice(stream(5, Purpose::Adaptive, 0).into());
    let highest: u16 = (0..10_000).map(|_| word("XyYx()", 0, 9, &mut dice)).sum();
    assert!(highest.abs_diff(5000) < 250, "{highest}");
    let pairs = |local: &mut dyn Local| {
        let complement =
            (0..64).map(|source| word("XyYx(choose: Pair)", source, 63 - source, local));
        complement.sum::<u16>()
    };
    assert_eq!(pairs(&mut dice), pairs(&mut Busy(1)));
    assert!(pairs(&mut dice).abs_diff(32) < 20);
    // ports 1 and 3 lead to +1 in dimensions 0 and 1
    for (busy, chosen) in [(1, 1), (3, 0), (5, 0)] {
        assert_eq!(
            word("XyYx(choose: LeastLoad)", 0, 9, &mut Busy(busy)),
            chosen
        );
    }
}

/// Both dimensions of the plane may be taken, on the lanes of its two networks.
#[test]
fn planar_adaptive_takes_the_lanes_of_its_planes() {
    let cube = grid(&[4, 4, 4], false, 1);
    let adaptive = adapt(&cube, "PlanarAdaptive()").unwrap();
    let ways = |at, goal| {
        let mut found = Vec::new();
        adaptive
            .routing
            .candidates(SwitchId(at), HostId(goal), Course::STRAIGHT, &mut found);
        found
            .iter()
            .map(|way| (way.port, way.lane))
            .collect::<Vec<_>>()
    };
    let at = |x: u32, y: u32, z: u32| x + 4 * y + 16 * z;
    assert_eq!(ways(at(0, 0, 0), at(2, 1, 3)), [(1, 2), (3, 0)]);
    assert_eq!(ways(at(3, 0, 0), at(2, 1, 3)), [(2, 2), (3, 1)]);
    assert_eq!(ways(at(2, 2, 0), at(2, 1, 3)), [(4, 2), (5, 1)]);
    assert_eq!(ways(at(2, 1, 0), at(2, 1, 3)), [(5, 2)]);
    assert_eq!(ways(at(1, 1, 0), at(2, 1, 3)), [(1, 2)]);
}
