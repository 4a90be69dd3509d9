package mcpwire

import "github.com/permission-canvas/permission-canvas/internal/strictjson"

// check refuses a text that two parsers could read differently (PC45).
func check(line []byte) error { return strictjson.Check(line, nil) }
