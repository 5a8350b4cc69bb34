package fetch

import (
	"bytes"
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"

	"golang.org/x/net/html/charset"
)

// errEncoding is the error of a feed that changes its encoding after its beginning.
var errEncoding = errors.New("bound: the encoding is not that of the beginning")

// declaration matches the declaration of an XML document, which names its encoding.
var declaration = regexp.MustCompile(`^\s*<\?xml\s[^>]*?\bencoding\s*=\s*["']([A-Za-z0-9._:-]{1,40})["'][^>]*\?>`)

// BoundFeed returns an XML or JSON feed in UTF-8, or an error if it has too much in it.
func BoundFeed(ctx context.Context, body []byte) ([]byte, error) {
	body = bytes.TrimLeft(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")), " \t\r\n")
	switch {
	case bytes.HasPrefix(body, []byte("{")):
		return body, jsonFeeds.JSON(ctx, body)
	case bytes.HasPrefix(body, []byte("\xfe\xff")), bytes.HasPrefix(body, []byte("\xff\xfe")):
		return utf8Of(ctx, body, "utf-16")
	}
	if found := declaration.FindSubmatch(body); found != nil {
		return utf8Of(ctx, body[len(found[0]):], string(found[1]))
	}
	return body, elements(ctx, body)
}

// utf8Of returns an XML document in UTF-8, without a declaration.
func utf8Of(ctx context.Context, body []byte, encoding string) ([]byte, error) {
	from, err := charset.NewReaderLabel(encoding, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("bound: %w", err)
	}
	decoded, err := io.ReadAll(from)
	if err != nil {
		return nil, fmt.Errorf("bound: %w", err)
	}
	decoded = bytes.TrimPrefix(decoded, []byte("\xef\xbb\xbf"))
	if found := declaration.FindIndex(decoded); found != nil {
		decoded = decoded[found[1]:]
	}
	return decoded, elements(ctx, decoded)
}

// elements counts what an XML document has.
func elements(ctx context.Context, body []byte) error {
	m, end := feeds.Begin(ctx)
	defer end()
	input := m.Tokens(bytes.NewReader(body))
	decoder := xml.NewDecoder(input)
	decoder.Strict = false
	decoder.CharsetReader = func(string, io.Reader) (io.Reader, error) { return nil, errEncoding }
	var count, spaces int
	for {
		token, err := decoder.RawToken()
		input.Ended(decoder.InputOffset())
		switch {
		case errors.Is(err, io.EOF):
			return m.Err()
		case err != nil:
			return fmt.Errorf("bound: %w", err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			count++
			for _, a := range t.Attr {
				if a.Name.Space == "xmlns" || a.Name.Local == "xmlns" {
					spaces++
				}
			}
			if err := cmp.Or(m.Enter(), m.Count(len(t.Attr))); err != nil {
				return err
			}
		case xml.EndElement:
			m.Leave()
		}
		switch {
		case count > mostElements:
			return fmt.Errorf("%w: more than %d elements", ErrTooMuch, mostElements)
		case spaces > mostSpaces:
			return fmt.Errorf("%w: more than %d namespaces", ErrTooMuch, mostSpaces)
		}
	}
}
