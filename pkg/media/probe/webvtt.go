package probe

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/audio"
)

// webvttMagic is the beginning of a file of captions, perhaps after a byte order mark (W3C WebVTT, 4.1).
const webvttMagic = "WEBVTT"

const byteOrderMark = "\ufeff"

// maxCaptions bounds a file of captions: an hour of speech has a tenth of it.
const maxCaptions = 1 << 20

// webvtt reads captions: they must be text, and must have something to show.
func (f file) webvtt() (Info, error) {
	if f.Size > maxCaptions {
		return Info{}, audio.Unsupported("captions of %d bytes", f.Size)
	}
	content := make([]byte, f.Size)
	if err := f.At(0, content); err != nil {
		return Info{}, err
	}
	if !utf8.Valid(content) || bytes.IndexByte(content, 0) >= 0 {
		return Info{}, audio.Unsupported("captions that are no text")
	}
	head, _, _ := strings.Cut(strings.TrimPrefix(string(content), byteOrderMark), "\n")
	if rest := strings.TrimPrefix(strings.TrimSuffix(head, "\r"), webvttMagic); rest != "" && rest[0] != ' ' &&
		rest[0] != '\t' {
		return Info{}, audio.Unsupported("captions that begin with %q", head)
	}
	if !bytes.Contains(content, []byte(" --> ")) {
		return Info{}, audio.Unsupported("captions without a cue")
	}
	return Info{Type: media.Captions, MIMEType: "text/vtt", Ext: "vtt"}, nil
}
