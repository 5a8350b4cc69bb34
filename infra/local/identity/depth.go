package identity

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"io"
	"strings"
)

// maxDepth and maxTokens bound a document of SAML. Real ones have a depth of about 10.
const (
	maxDepth  = 50
	maxTokens = 50_000
)

// ErrDeep is the error of a document that is not parsed.
var ErrDeep = errors.New("identity: the document is nested too deeply, or has too many elements")

// shallow returns an error unless a document is one that a parser of trees reads in a short time. It keeps no tree.
func shallow(document []byte) error {
	read, depth := xml.NewDecoder(bytes.NewReader(document)), 0
	for range maxTokens {
		token, err := read.RawToken()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch token.(type) {
		case xml.StartElement:
			depth++
		case xml.EndElement:
			depth--
		}
		if depth > maxDepth {
			return ErrDeep
		}
	}
	return ErrDeep
}

// ShallowAnswer returns an error unless an answer, as forms send it, is a document that a parser of trees reads in a
// short time.
func ShallowAnswer(text string) error {
	document, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil {
		return err
	}
	return shallow(document)
}
