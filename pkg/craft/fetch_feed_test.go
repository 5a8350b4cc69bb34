// Package craft_test has the tests of the packages below that name none of their internals.
package craft_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/craft/source"
	"github.com/content-automation/api/pkg/craft/source/fetch"
)

func TestParse(t *testing.T) {
	at := time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC)
	want := source.Entry{Key: "1", Title: "A shoe & more", URL: "https://www.example.com/shoe", Summary: "Of nets"}
	for name, body := range map[string]string{
		"RSS": `<rss version="2.0"><channel><item><guid>1</guid><title>A &lt;b&gt;shoe&lt;/b&gt; &amp;amp; more</title>
			<link>https://www.example.com/shoe</link><pubDate>Sun, 01 Nov 2026 09:00:00 GMT</pubDate>
			<description>&lt;script&gt;run()&lt;/script&gt;Of nets</description></item></channel></rss>`,
		"Atom": `<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>1</id><title type="html">A &lt;b&gt;shoe&lt;/b&gt; &amp;amp;
			more</title><link href="https://www.example.com/shoe"/><updated>2026-11-01T09:00:00Z</updated>
			<summary>Of nets</summary></entry></feed>`,
		"JSON": `{"version": "https://jsonfeed.org/version/1.1", "title": "News", "items": [{"id": "1",
			"title": "A <b>shoe</b> &amp; more", "url": "https://www.example.com/shoe", "summary": "Of nets",
			"date_published": "2026-11-01T09:00:00Z"}]}`,
	} {
		got, err := fetch.ParseFeed(t.Context(), []byte(body))
		if err != nil || len(got) != 1 {
			t.Errorf("%s: %v, %v", name, got, err)
			continue
		}
		e := got[0]
		if e.PublishedAt == nil || !e.PublishedAt.Equal(at) {
			t.Errorf("%s: published at %v", name, e.PublishedAt)
		}
		e.PublishedAt = nil
		for _, text := range []*string{&e.Title, &e.Summary} {
			*text = strings.Join(strings.Fields(*text), " ")
		}
		if e != want {
			t.Errorf("%s: got %+v, want %+v", name, e, want)
		}
	}
}

func TestAnEntryWithoutAnIDIsKnownByItsLink(t *testing.T) {
	got, err := fetch.ParseFeed(t.Context(), []byte(`<rss version="2.0"><channel><item><link>https://www.example.com/</link></item>`+
		`<item><title>Neither</title></item></channel></rss>`))
	if err != nil || len(got) != 2 || got[0].Key != "https://www.example.com/" || got[1].Key != "" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestWhatIsNoFeedIsAnError(t *testing.T) {
	for _, body := range []string{"", "text", "<html></html>", "[]"} {
		if got, err := fetch.ParseFeed(t.Context(), []byte(body)); err == nil {
			t.Errorf("%q: %+v", body, got)
		}
	}
}

// Entities that a feed declares are not read: neither a file or address, nor one that stands for many others.
func TestEntitiesOfAFeedStandForNothing(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("planted"), 0o600); err != nil {
		t.Fatal(err)
	}
	asked := false
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	defer server.Close()
	nested := `<!ENTITY a0 "lol">`
	for n := range 12 {
		nested += fmt.Sprintf(`<!ENTITY a%d "%s">`, n+1, strings.Repeat(fmt.Sprintf("&a%d;", n), 10))
	}
	for name, declared := range map[string]string{
		"file":      `<!ENTITY x SYSTEM "file://` + secret + `">`,
		"address":   `<!ENTITY x SYSTEM "` + server.URL + `/x">`,
		"parameter": `<!ENTITY % y SYSTEM "` + server.URL + `/y">%y;<!ENTITY x "planted">`,
		"nested":    nested + `<!ENTITY x "&a12;">`,
	} {
		for _, form := range []string{
			`<rss version="2.0"><channel><item><guid>1</guid><title>&x;</title><description>&x;</description></item>` +
				`</channel></rss>`,
			`<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>1</id><title>&x;</title><content>&x;</content></entry>` +
				`</feed>`,
		} {
			found, err := fetch.ParseFeed(t.Context(), []byte(`<?xml version="1.0"?><!DOCTYPE z [`+declared+`]>`+form))
			if err != nil {
				continue
			}
			text := fmt.Sprint(found)
			if strings.Contains(text, "planted") || strings.Contains(text, "lol") || len(text) > 1000 {
				t.Errorf("%s: read %.200s", name, text)
			}
		}
	}
	if asked {
		t.Error("the address of an entity was called")
	}
}
