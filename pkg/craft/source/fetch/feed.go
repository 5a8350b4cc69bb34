package fetch

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/mmcdole/gofeed"
	"golang.org/x/net/html"

	"github.com/content-automation/api/pkg/craft/source"
)

// ParseFeed returns the entries of a feed. One with too much in it is an error.
func ParseFeed(ctx context.Context, body []byte) (found []source.Entry, err error) {
	defer func() {
		if r := recover(); r != nil { // the library reads what strangers have written
			found, err = nil, fmt.Errorf("feed: %v", r)
		}
	}()
	if body, err = BoundFeed(ctx, body); err != nil {
		return nil, fmt.Errorf("feed: %w", err)
	}
	read, err := gofeed.NewParser().Parse(bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("feed: %w", err)
	}
	for _, it := range read.Items {
		published := it.PublishedParsed
		if published == nil {
			published = it.UpdatedParsed
		}
		found = append(found, source.Entry{Key: cmp.Or(it.GUID, it.Link), Title: plain(it.Title), URL: it.Link,
			Summary: plain(it.Description), Content: plain(it.Content), PublishedAt: published})
	}
	return found, nil
}

// plain returns the text of HTML, without scripts, styles and tags.
func plain(text string) string {
	var b strings.Builder
	tokens, hidden := html.NewTokenizer(strings.NewReader(text)), 0
	for {
		switch kind := tokens.Next(); kind {
		case html.ErrorToken:
			if errors.Is(tokens.Err(), io.EOF) {
				return b.String()
			}
			return ""
		case html.TextToken:
			if hidden == 0 {
				b.Write(tokens.Text())
			}
		case html.StartTagToken, html.EndTagToken:
			name, _ := tokens.TagName()
			if n := string(name); n == "script" || n == "style" {
				if hidden++; kind == html.EndTagToken {
					hidden = 0
				}
			}
			b.WriteByte(' ')
		}
	}
}
