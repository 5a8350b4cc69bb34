package craft_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/cost"
	"github.com/content-automation/api/pkg/craft/source"
	"github.com/content-automation/api/pkg/craft/source/fetch"
)

// most is the size of an answer that is read, and mostMemory the memory that reading one may take.
const (
	most       = 2 << 20
	mostMemory = 64 << 20
)

// fill repeats a text, with numbers in place of %d, between two others until the whole has the size of an answer.
func fill(before, repeated, after string) string {
	b := bytes.NewBufferString(before)
	for n := 0; ; n++ {
		part := strings.ReplaceAll(repeated, "%d", strconv.Itoa(n))
		if b.Len()+len(part)+len(after) > most {
			return b.String() + after
		}
		b.WriteString(part)
	}
}

// bomb is a page of paragraphs in each of which a parser repeats so many elements.
func bomb(elements int, element, paragraph string, paragraphs int) string {
	var b strings.Builder
	b.WriteString("<html><body><p>")
	for n := range elements {
		b.WriteString(strings.ReplaceAll(element, "%d", strconv.Itoa(n)))
	}
	return b.String() + strings.Repeat(paragraph, paragraphs)
}

// zipped packs a text that is repeated so often.
func zipped(text string, often int) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	for range often {
		_, _ = io.WriteString(w, text) // a buffer takes all
	}
	_ = w.Close()
	return b.String()
}

const rss = `<?xml version="1.0"?><rss version="2.0" xmlns:m="urn:m"><channel>`

// hostile are answers that take much memory of a parser that builds all of the tree. Their names begin with the kind
// of the source.
var hostile = map[string]func() string{
	"page of the review": func() string { return bomb(300, "<b id=%d>", "<p>x", 10_000) },
	"page of formatting": func() string { return bomb(20_000, "<b id=%d>", "<p>x", 400_000) },
	"page of links":      func() string { return bomb(500, "<a id=%d><table><td>", "<p>x", 400_000) },
	"page of links in cells": func() string {
		return fill("<body>", "<table><tr><td><a href=%d>x</table>", "")
	},
	"page with formatting hidden in a picture": func() string {
		return "<svg><style>" + bomb(300, "<b id=%d>", "<p>x", 10_000)
	},
	"page with formatting hidden in a comment of a picture": func() string {
		return "<svg><![CDATA[><!--]]>" + bomb(300, "<b id=%d>", "<p>x", 10_000)
	},
	"page with formatting without scripts": func() string {
		return "<body><noscript>" + bomb(300, "<b id=%d>", "<p>x<img src=x.png>", 10_000)
	},
	"page with formatting beside tables": func() string {
		return bomb(300, "<b id=%d><table></b></table>", "<p>x", 10_000)
	},
	"page with tags made of others": func() string { return bomb(300, "<<b>b id=%d>", "<<i>p>x", 10_000) },
	"page that is deep":             func() string { return fill("<body>", "<div>", "") },
	"page of deep lists":            func() string { return fill("<body>", "<ul><li>", "") },
	"page of paragraphs":            func() string { return fill("<body>", "<p>", "") },
	"page of paragraphs up to the bound": func() string {
		return "<body>" + strings.Repeat("<p>"+strings.Repeat("word, ", 12), 19_000)
	},
	"page of wide elements up to the bound": func() string {
		return "<body>" + strings.Repeat(`<div class="a b" id="c"><p class=d href=e>word, word<a href=f>g</a></div>`, 6_600)
	},
	"page of attributes":             func() string { return fill("<body><p ", "a%d ", ">x") },
	"page of short attributes":       func() string { return fill("<body><p ", "a ", ">x") },
	"page of elements of attributes": func() string { return fill("<body>", "<p "+strings.Repeat("a ", 1000)+">", "") },
	"page of unclosed tables":        func() string { return fill("<body>", "<table>x", "") },
	"page of text beside tables":     func() string { return fill("<body><table>", "x<tr>", "") },
	"page of ends":                   func() string { return fill("<body><p>", "x</y>", "") },
	"page of comments":               func() string { return fill("<body><p>", "x<!---->", "") },
	"page of characters":             func() string { return fill("<body><p>", "&lt;", "") },
	"page of frames":                 func() string { return fill("<body>", "<template><svg><foreignObject>", "") },
	"page that is packed":            func() string { return zipped(strings.Repeat("<p>", 1<<20), 64) },
	"feed of the review":             func() string { return fill(rss, "<m:a/>", "") },
	"feed of the review that ends":   func() string { return fill(rss, "<m:a>x</m:a>", "</channel></rss>") },
	"feed that is deep":              func() string { return fill(rss, "<m:a>", "") },
	"feed that is wide":              func() string { return fill(rss, "<item><guid>%d</guid></item>", "</channel></rss>") },
	"feed up to the bound": func() string {
		return rss + strings.Repeat("<item>"+strings.Repeat("<m:a b='c'>text</m:a>", 10)+"</item>", 1_800) + "</channel></rss>"
	},
	"feed of tags in texts": func() string {
		return fill(rss, "<item><guid>%d</guid><description>"+strings.Repeat("&lt;a&gt;", 20_000)+"</description></item>",
			"</channel></rss>")
	},
	"feed of dates": func() string {
		return fill(rss, "<item><guid>%d</guid><pubDate>"+strings.Repeat("Mon, 02 Jan 2006 ", 20)+"</pubDate></item>",
			"</channel></rss>")
	},
	"feed of JSON up to the bound": func() string {
		return `{"version":"https://jsonfeed.org/version/1.1","items":[` + strings.Repeat(`{"id":"a","content_html":"<a><b>",`+
			`"date_published":"2006-01-02"},`, 12_400) + `{}]}`
	},
	"page of links up to the bound": func() string {
		return "<body>" + strings.Repeat(`<p>`+strings.Repeat(`<a href="a">word, word</a>`, 30)+"</p>", 640)
	},
	"page of divisions up to the bound": func() string {
		return "<body>" + strings.Repeat(strings.Repeat("<div>word, word, word", 98)+strings.Repeat("</div>", 98), 200)
	},
	"page of line breaks up to the bound": func() string { return "<body><div>" + strings.Repeat("a<br><br>", 9_900) },
	"feed of attributes":                  func() string { return fill(rss+"<item ", "a ", "></item></channel></rss>") },
	"feed of more attributes":             func() string { return fill(rss, "<item "+strings.Repeat("a='' ", 500)+"/>", "</channel></rss>") },
	"feed of namespaces":                  func() string { return fill(rss, "<m:a xmlns:a%d='urn:%d'>", "") },
	"feed of namespaces and elements": func() string {
		return fill(rss, "<m:a xmlns:a%d='urn:%d'/>", "</channel></rss>")
	},
	"feed in another encoding": func() string { return fill("\xff\xfe", "<\x00a\x00>\x00", "") },
	"feed in a short encoding": func() string {
		return fill(`<?xml version="1.0" encoding="windows-1251"?><rss><channel><title>`, "\xe0", "")
	},
	"feed that changes its encoding": func() string {
		return fill(`<?xml version="1.0"?><?xml version="1.0" encoding="utf-16"?>`, "\x00<\x00a\x00>", "")
	},
	"feed that is packed":       func() string { return zipped(strings.Repeat("<m:a/>", 1<<19), 64) },
	"feed of JSON":              func() string { return `{"version":"https://jsonfeed.org/version/1.1","items":[]}` },
	"feed of JSON that is deep": func() string { return fill(`{"items":`, "[", "") },
	"feed of deep JSON objects": func() string { return fill("", `{"a":`, "") },
	"feed of JSON that is wide": func() string { return fill(`{"version":"https://jsonfeed.org/version/1.1","items":[`, "{},", "{}]}") },
	"feed of JSON with many ids": func() string {
		return fill(`{"version":"https://jsonfeed.org/version/1.1","items":[`, `{"id":"%d"},`, "{}]}")
	},
	"feed of JSON extensions": func() string { return fill(`{"version":"https://jsonfeed.org/version/1.1","_e":[`, "0,", "0]}") },
}

// answers is a client that answers each request with the same text.
type answers string

func (a answers) Do(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, ContentLength: -1,
		Body:   io.NopCloser(strings.NewReader(string(a))),
		Header: http.Header{"Content-Type": {"text/html; charset=utf-8"}}}, nil
}

func read(ctx context.Context, name, body string) error {
	f := &fetch.Fetcher{Client: answers(body), Now: time.Now}
	kind, _, _ := strings.Cut(name, " ")
	_, err := f.Read(ctx, source.Source{URL: "https://news.example/", Kind: source.Kind(kind)}, source.Cache{})
	return err
}

// hostileName is the variable with the answer that a process of this test reads.
const hostileName = "TEST_HOSTILE_ANSWER"

// Each answer is read in a process of its own, which tells how much memory it got of the system: that only grows.
func TestHostileAnswersTakeLittleMemory(t *testing.T) {
	if name := os.Getenv(hostileName); name != "" {
		body := hostile[name]()
		debug.FreeOSMemory()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var err error
		taken := cost.Least(cost.MostCPU, func() cost.Cost {
			return cost.Quick(func() { err = read(t.Context(), name, body) })
		})
		runtime.ReadMemStats(&after)
		outcome := "read"
		if err != nil {
			outcome = "refused"
		}
		held := before.Sys - before.HeapIdle // what the input left behind can be used again
		fmt.Printf("peak=%d cpu=%d outcome=%s\n", after.Sys-held, taken.CPU.Microseconds(), outcome)
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(hostile)) {
		child := exec.CommandContext(t.Context(), self, "-test.run=^"+t.Name()+"$")
		child.Env = append(os.Environ(), hostileName+"="+name, "GOGC=100", "GOMEMLIMIT=off") // as the functions have it
		out, err := child.CombinedOutput()
		var peak, cpu int
		var outcome string
		if err == nil {
			_, err = fmt.Sscanf(string(out), "peak=%d cpu=%d outcome=%s", &peak, &cpu, &outcome)
		}
		if err != nil {
			t.Errorf("%s: %v\n%.500s", name, err, out)
			continue
		}
		taken := time.Duration(cpu) * time.Microsecond
		t.Logf("cost: %-55s %7.3f CPU s %4d MB, %s", name, taken.Seconds(), peak>>20, outcome)
		if taken > cost.MostCPU {
			t.Errorf("%s: reading it took %v of CPU time", name, taken)
		}
		if peak > mostMemory {
			t.Errorf("%s: reading it took %d MB", name, peak>>20)
		}
	}
}

// What is above a bound is refused before a tree is built, and what is below is read.
func TestTheBoundsOfAnswers(t *testing.T) {
	for _, name := range []string{"page of paragraphs", "page that is deep", "feed of the review that ends", "feed that is deep",
		"feed of namespaces", "feed of JSON that is deep", "feed of JSON that is wide", "page of attributes"} {
		if err := read(t.Context(), name, hostile[name]()); !errors.Is(err, fetch.ErrTooMuch) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"page of paragraphs up to the bound", "feed up to the bound"} {
		if err := read(t.Context(), name, hostile[name]()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A read ends with its context, also after its answer has come.
func TestReadingEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, name := range []string{"page of paragraphs up to the bound", "feed up to the bound", "feed of JSON"} {
		if err := read(ctx, name, hostile[name]()); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
