package audit

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strconv"
	"unicode/utf8"
)

// A Digester stands in for typed text: the same text has the same digest in
// one profile, and without the profile's key nobody can try texts out.
type Digester struct{ key []byte }

// NewDigest returns a Digester under a profile's key of at least 16 bytes.
func NewDigest(key []byte) (*Digester, error) {
	if len(key) < 16 {
		return nil, errors.New("audit: key shorter than 16 bytes")
	}
	// A key of its own, so that digests here do not match those in rules.
	m := hmac.New(sha256.New, key)
	m.Write([]byte("permission-canvas audit typed text"))
	return &Digester{key: m.Sum(nil)}, nil
}

// Sum is the text's length in characters and 16 bytes of its keyed digest, as
// in "12:0f3a…" with 32 hexadecimal digits.
func (d *Digester) Sum(text string) string {
	m := hmac.New(sha256.New, d.key)
	m.Write([]byte(text))
	return strconv.Itoa(utf8.RuneCountInString(text)) + ":" + hex.EncodeToString(m.Sum(nil)[:16])
}
