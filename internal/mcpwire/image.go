package mcpwire

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
)

// placeholderSize makes a base64 text without padding, so that it stands in
// JSON as it stands here.
const placeholderSize = 24

// held is an image whose place is held by a short text.
type held struct {
	place []byte
	image []byte
}

// Image returns what to give the SDK as an image's data: a placeholder. It is
// replaced in this call's answer, so that the image itself is encoded once and
// goes through no JSON encoder. The image must not be changed afterwards.
func (c *Call) Image(image []byte) []byte {
	if c.all == nil {
		return image
	}
	data := make([]byte, placeholderSize)
	_, _ = rand.Read(data) // it never fails
	c.all.mu.Lock()
	defer c.all.mu.Unlock()
	c.images = append(c.images, held{place: base64.StdEncoding.AppendEncode(nil, data), image: image})
	return data
}

// splice replaces each placeholder in a line by its image.
func splice(line []byte, images []held) []byte {
	for _, h := range images {
		at := bytes.Index(line, h.place)
		if at < 0 {
			continue
		}
		whole := make([]byte, 0, len(line)-len(h.place)+base64.StdEncoding.EncodedLen(len(h.image))+1)
		whole = append(whole, line[:at]...)
		whole = base64.StdEncoding.AppendEncode(whole, h.image)
		line = append(whole, line[at+len(h.place):]...)
	}
	return line
}
