//! Any text as the tree of a city: checked, and what passes gives forms that the linter finds right.
#![no_main]

use flow_json::{BUILTIN, Taxonomy, generate};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|tree: &str| {
    match Taxonomy::from_yaml(tree, BUILTIN.catalogs, BUILTIN.partner) {
        Ok(taxonomy) => {
            for language in taxonomy.languages() {
                let form = generate(&taxonomy, language).expect("the language is known");
                assert!(form.lint().is_empty(), "{:?}", form.lint());
            }
            let compiled = Taxonomy::from_compiled(&taxonomy.compiled()).expect("it reads what it wrote");
            assert_eq!(compiled.version(), taxonomy.version());
        }
        Err(problems) => assert!(!problems.is_empty()),
    }
});
