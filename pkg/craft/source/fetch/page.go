package fetch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/content-automation/api/pkg/base/budget"
)

// Elements of a page by what becomes of them. A parser repeats open formatting elements in every paragraph, so that a
// small page becomes a huge tree. Their text is all that is wanted; of links, a parser has one open at a time.
var (
	formatting = set(atom.B, atom.Big, atom.Code, atom.Em, atom.Font, atom.I, atom.Nobr, atom.S, atom.Small,
		atom.Strike, atom.Strong, atom.Tt, atom.U, atom.Marquee, atom.Object, atom.Applet, atom.Frameset)
	// dropped are left out with all that they have. HTML in pictures and formulas has rules of its own.
	dropped = set(atom.Svg, atom.Math, atom.Template, atom.Select)
	// raw have text alone, which no reader sees.
	raw = set(atom.Style, atom.Textarea, atom.Iframe, atom.Noembed, atom.Noframes, atom.Noscript, atom.Xmp,
		atom.Plaintext)
	void = set(atom.Area, atom.Base, atom.Br, atom.Col, atom.Embed, atom.Hr, atom.Img, atom.Image, atom.Input,
		atom.Keygen, atom.Link, atom.Meta, atom.Param, atom.Source, atom.Track, atom.Wbr)
	// closed end by themselves where the next one begins.
	closed = set(atom.P, atom.Li, atom.Dt, atom.Dd, atom.Tr, atom.Td, atom.Th, atom.Tbody, atom.Thead, atom.Tfoot,
		atom.Option, atom.Optgroup, atom.Colgroup, atom.A)
	// attributes are those that the text, title and date of an article are found by.
	attributes = []string{"class", "id", "href", "itemprop", "itemscope", "itemtype", "property", "name", "content",
		"rel", "datetime", "style", "role", "hidden", "aria-hidden", "aria-modal", "lang", "dir", "src", "alt", "type"}
)

func set(all ...atom.Atom) map[atom.Atom]bool {
	in := map[atom.Atom]bool{}
	for _, a := range all {
		in[a] = true
	}
	return in
}

// BoundPage returns a page in UTF-8 without what can make its tree large: formatting, pictures, scripts, comments and
// end tags that end nothing. The text of its article, the links and the metadata stay. A page with too much in it is an
// error.
func BoundPage(ctx context.Context, body io.Reader) ([]byte, error) {
	m, end := pages.Begin(ctx)
	defer end()
	p := &page{tokens: html.NewTokenizer(body), m: m}
	p.tokens.SetMaxBuf(int(pages.Part))
	p.out.WriteString("<!DOCTYPE html>")
	for {
		if err := m.Err(); err != nil {
			return nil, err
		}
		kind := p.tokens.Next()
		if kind == html.ErrorToken {
			switch err := p.tokens.Err(); {
			case errors.Is(err, io.EOF):
				return p.out.Bytes(), nil
			case errors.Is(err, html.ErrBufferExceeded):
				return nil, fmt.Errorf("%w: more than %d bytes in one part", ErrTooMuch, pages.Part)
			default:
				return nil, fmt.Errorf("bound: %w", err)
			}
		}
		if err := p.take(kind); err != nil {
			return nil, err
		}
	}
}

// page writes the smaller form of a page.
type page struct {
	tokens *html.Tokenizer
	out    bytes.Buffer
	// open are the elements that have not ended, and depth is the number of those that do not end by themselves.
	open  []string
	depth int
	// within are the dropped elements that have not ended.
	within []atom.Atom
	// data reports that the text is that of a script with data, and hidden that it is of an element that is left out.
	data, hidden bool
	m            *budget.Meter
}

func (p *page) take(kind html.TokenType) error {
	switch kind {
	case html.TextToken:
		p.text()
	case html.StartTagToken, html.SelfClosingTagToken:
		return p.start()
	case html.EndTagToken:
		p.end()
	}
	return nil
}

func (p *page) text() {
	switch {
	case len(p.within) > 0 || p.hidden:
	case p.data:
		if text := p.tokens.Raw(); !bytes.Contains(text, []byte("<!--")) {
			p.out.Write(text)
		}
	default:
		p.out.WriteString(html.EscapeString(string(p.tokens.Text())))
	}
}

func (p *page) start() error {
	if err := p.m.Count(1); err != nil {
		return err
	}
	name, more := p.tokens.TagName()
	a, tag := atom.Lookup(name), string(name)
	switch {
	case dropped[a]:
		if p.within = append(p.within, a); len(p.within) > pages.Depth {
			return tooDeep()
		}
		return nil
	case raw[a]:
		p.hidden = true
		return nil
	case len(p.within) > 0, formatting[a]:
		p.hidden = p.hidden || a == atom.Script
		return nil
	}
	kept := p.attributes(more)
	if a == atom.Script {
		if p.hidden = !strings.Contains(kept, "application/ld+json"); p.hidden {
			return nil
		}
		p.data = true
	}
	p.out.WriteString("<" + tag + kept + ">")
	if void[a] {
		return nil
	}
	p.open = append(p.open, tag)
	if !closed[a] {
		p.depth++
	}
	if p.depth > pages.Depth || len(p.open) > pages.Elements {
		return tooDeep()
	}
	return nil
}

func tooDeep() error {
	return fmt.Errorf("%w: more than %d elements in one another", ErrTooMuch, pages.Depth)
}

// attributes returns the attributes of the start tag that are kept.
func (p *page) attributes(more bool) string {
	var kept strings.Builder
	known := map[string]bool{}
	for more && len(known) < len(attributes) {
		var name, value []byte
		name, value, more = p.tokens.TagAttr()
		if n := string(name); slices.Contains(attributes, n) && !known[n] {
			known[n] = true
			kept.WriteString(" " + n + `="` + html.EscapeString(string(value)) + `"`)
		}
	}
	return kept.String()
}

func (p *page) end() {
	name, _ := p.tokens.TagName()
	a, tag := atom.Lookup(name), string(name)
	p.hidden, p.data = false, false
	switch {
	case dropped[a]:
		if n := len(p.within); n > 0 && slices.Contains(p.within, a) {
			p.within = p.within[:slices.Index(p.within, a)]
		}
		return
	case len(p.within) > 0, formatting[a], raw[a]:
		return
	}
	// Only the last ones are looked at: an end tag far away from its start tag ends nothing.
	for i := len(p.open) - 1; i >= max(0, len(p.open)-2*pages.Depth); i-- {
		if p.open[i] != tag {
			continue
		}
		for _, ended := range p.open[i:] {
			if !closed[atom.Lookup([]byte(ended))] {
				p.depth--
			}
		}
		p.open = p.open[:i]
		p.out.WriteString("</" + tag + ">")
		return
	}
}
