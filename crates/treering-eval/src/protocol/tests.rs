use super::*;

#[test]
fn every_protocol_comes_back_from_its_text() {
    for listed in Protocol::all() {
        let protocol = listed.protocol;
        assert_eq!(protocol.to_string(), listed.name);
        assert_eq!(listed.name.parse(), Ok(protocol));
        assert_eq!(protocol.listed().protocol, protocol);
        let json = serde_json::to_string(&protocol).unwrap();
        assert_eq!(json, format!("{:?}", listed.name));
        assert_eq!(serde_json::from_str::<Protocol>(&json).unwrap(), protocol);
    }
}

#[test]
fn one_size_of_groups_has_one_form() {
    for (text, form) in [
        ("groups:1", "single"),
        ("groups:01", "single"),
        ("groups:2", "groups:2"),
        ("groups:007", "groups:7"),
        ("groups:4294967295", "groups:4294967295"),
        // Groups of one are a protocol of their own: `single` asks about known tasks alone.
        ("open:1", "open:1"),
        ("open:007", "open:7"),
        ("open:4294967295", "open:4294967295"),
    ] {
        let protocol: Protocol = text.parse().unwrap();
        assert_eq!(protocol.to_string(), form, "{text}");
        assert_eq!(form.parse(), Ok(protocol), "{text}");
    }
}

#[test]
fn what_is_no_protocol_is_answered_with_all_names() {
    for text in [
        "",
        "papers",
        "Paper",
        " paper",
        "groups",
        "groups:",
        "groups:0",
        "groups:-1",
        "groups:+2",
        "groups:2.0",
        "groups:4294967296",
        "groups:M",
        "open:",
        "open:0",
        "open:-1",
        "open:+2",
        "open:x",
        "open:4294967296",
        "open:M",
        "opened",
        "single:2",
    ] {
        let error = text.parse::<Protocol>().unwrap_err().to_string();
        for listed in Protocol::all() {
            let name = listed.name.trim_end_matches('5');
            assert!(error.contains(name), "{text}: {error}");
        }
    }
    let error = serde_json::from_str::<Protocol>("\"papers\"").unwrap_err();
    let told = "protocol is \"papers\"; it has to be one of paper";
    assert!(error.to_string().starts_with(told), "{error}");
}

#[test]
fn only_open_protocols_ask_about_unknown_tasks() {
    let open = Protocol::all().iter().filter(|one| one.protocol.is_open());
    let names: Vec<&str> = open.map(|one| one.name).collect();
    assert_eq!(names, ["open", "open:5"]);
    assert_eq!(Protocol::open_groups(0), None);
    assert_ne!(Protocol::open_groups(5), Protocol::groups(5));
}
