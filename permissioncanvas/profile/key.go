package profile

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/permission-canvas/permission-canvas/internal/statefile"
)

const (
	keyFile = "key"
	keySize = 32
)

// Key returns the profile's secret and makes it where there is none. It is
// what keeps a fingerprint in a rule, or a digest on record, from being tried
// out by whoever reads the file.
func (p *Profile) Key() ([]byte, error) {
	_, err := p.Policy() // reads the key, and refuses a new one where an old one is needed
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.key), nil
}

// Digest is the keyed fingerprint of text, 32 hex digits: equal for equal
// texts of one profile. It is "" before Policy or Key succeeded, and never
// after.
func (p *Profile) Digest(text string) string {
	p.mu.Lock()
	key := p.key
	p.mu.Unlock()
	if key == nil {
		return ""
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// secret reads the key once, or makes it unless a rule needs the one that is
// gone. The caller holds mu.
func (p *Profile) secret() error {
	if p.key != nil {
		return nil
	}
	path := p.path(keyFile)
	key, err := statefile.Read(path, keySize)
	if missing(err) {
		if p.needsKey {
			return &InvalidError{path, errors.New("missing, and rules with text_digest need it: put it back, or make those rules anew")}
		}
		fresh := make([]byte, keySize)
		rand.Read(fresh) // never fails
		if err := statefile.Create(path, fresh); err != nil && !errors.Is(err, fs.ErrExist) {
			return &InvalidError{path, err}
		}
		key, err = statefile.Read(path, keySize) // ours, or that of whoever was first
	}
	if err == nil && len(key) != keySize {
		err = fmt.Errorf("%d bytes where there should be %d", len(key), keySize)
	}
	if err != nil {
		return &InvalidError{path, err}
	}
	p.key = key
	return nil
}
