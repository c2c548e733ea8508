"""Networks that end as rules: trained by gradients as soft rules, then made hard and read off as a `RuleEnsemble`."""
