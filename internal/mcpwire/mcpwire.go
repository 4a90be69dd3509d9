// Package mcpwire is the Model Context Protocol's connection, on both of its
// ends, as newline-delimited JSON-RPC over a pair of streams. The protocol
// itself is the go-sdk's; this package is the pipe beneath it, which the
// SDK's own does not make strict, ordered or cheap enough.
//
// [Dial] is the client's end, used towards a desktop driver. [NewStdio] is
// the server's end, used towards an agent's host.
//
// # Guarantees
//
//   - A frame is bounded before it is kept, and is one JSON text that every
//     parser reads alike (package strictjson), or it is not used at all. The
//     server answers such a frame with a JSON-RPC error and goes on; the client
//     ends the connection, since a driver has no excuse.
//   - The client uses awaited results only. Requests, notifications and answers
//     that nobody waits for are dropped and counted.
//   - The client hands on the bytes of a result as they came, so that a 64-bit
//     integer in it survives.
//   - The server numbers tools/call frames as they arrive, so that calls whose
//     order matters can run in that order although the SDK runs all at once.
//   - The server carries images past JSON: a handler's reply holds a short
//     placeholder, replaced by the picture's base64 text while it is written.
//
// # Limits
//
// Nothing here knows what a tool does or what may be shown to whom. A peer's
// error texts are dropped, not forwarded.
package mcpwire

import "errors"

// Bounds of one line, and what is kept of a peer.
const (
	maxDriverLine = 64 << 20
	maxHostLine   = 4 << 20
)

// Errors of a connection.
var (
	// ErrClosed: the connection is over, by either side.
	ErrClosed = errors.New("mcpwire: connection closed")
	// ErrGarbage: the peer sent something that cannot be used.
	ErrGarbage = errors.New("mcpwire: unusable frame")
	// ErrTooLong: a line is longer than its bound.
	ErrTooLong = errors.New("mcpwire: line too long")
)
