package fetch

import (
	"bytes"
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
		return body, values(ctx, body)
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
	input := &window{ctx: ctx, from: bytes.NewReader(body)}
	decoder := xml.NewDecoder(input)
	decoder.Strict = false
	decoder.CharsetReader = func(string, io.Reader) (io.Reader, error) { return nil, errEncoding }
	var count, depth, attributes, spaces int
	for {
		token, err := decoder.RawToken()
		input.end = decoder.InputOffset()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("bound: %w", err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			count++
			depth++
			attributes += len(t.Attr)
			for _, a := range t.Attr {
				if a.Name.Space == "xmlns" || a.Name.Local == "xmlns" {
					spaces++
				}
			}
		case xml.EndElement:
			depth = max(0, depth-1)
		}
		switch {
		case count > mostElements:
			return tooMany(mostElements, "elements")
		case depth > mostDepth:
			return tooMany(mostDepth, "elements in one another")
		case attributes > mostAttributes:
			return tooMany(mostAttributes, "attributes")
		case spaces > mostSpaces:
			return tooMany(mostSpaces, "namespaces")
		}
	}
}

// values counts what a JSON document has.
func values(ctx context.Context, body []byte) error {
	count, depth, quoted := 0, 0, false
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
			count++
		case c == '}' || c == ']':
			depth--
		case c == ',':
			count++
		}
		switch {
		case depth > mostDepth:
			return tooMany(mostDepth, "values in one another")
		case count > mostValues:
			return tooMany(mostValues, "values")
		}
	}
	return ctx.Err()
}
