package policy

import _ "embed"

//go:embed policy.schema.json
var schema string

// Schema returns the JSON Schema (draft 2020-12) of policy.json. It takes what
// Parse takes and refuses what Parse refuses, but for what a schema cannot say:
// duplicate keys, spellings of numbers, rules that share an id, and whether a
// pattern is one of RE2.
func Schema() []byte { return []byte(schema) }
