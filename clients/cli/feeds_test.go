package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func packed(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = io.WriteString(z, text)
	_ = z.Close()
	return b.String()
}

// A push keeps what the feed says, uploads the file, sets it, and shows the run to its end.
func TestAFileIsPushedAsAFeed(t *testing.T) {
	for name, c := range map[string]struct {
		file, text, format, mime, end string
		code                          int
		notes                         string
	}{
		"a table": {"shop.csv", "sku,name,price\nA,Shoe,9.90\n", "csv", "text/csv", `"state":"completed"`, 0,
			"4 of 4 rows"},
		"an export of Shopify": {"export.csv", "Handle,Title\n", "shopify_csv", "text/csv", `"state":"completed"`, 0, ""},
		"Yandex Market":        {"shop.xml", "<yml_catalog>", "yml", "application/xml", `"state":"completed"`, 0, ""},
		"Google":               {"shop.xml", "<rss>", "google_xml", "application/xml", `"state":"completed"`, 0, ""},
		"Yandex, packed":       {"shop.xml.gz", packed("\ufeff<?xml version='1.0'?><yml_catalog>"), "yml", "application/xml", `"state":"completed"`, 0, ""},
		"Google by its text":   {"export.php", "<?xml version='1.0'?><rss>", "google_xml", "application/xml", `"state":"completed"`, 0, ""},
		"a new Shopify export": {"products.csv", "\"Title\",\"URL handle\"\n", "shopify_csv", "text/csv", `"state":"completed"`, 0, ""},
		"lines by their text":  {"export", "\n{\"id\":\"A\"}", "json_lines", "application/json", `"state":"completed"`, 0, ""},
		"lines":                {"shop.jsonl", "{}", "json_lines", "application/json", `"state":"completed"`, 0, ""},
		"a run that is held": {"shop.tsv", "id\ttitle\n", "google_tsv", "text/tab-separated-values",
			`"state":"held","gone":3`, 5, "feeds sync fac_1 --confirm-run-id run_1"},
		"rows that are refused": {"shop.csv", "sku", "csv", "text/csv", `"state":"completed","refused":30,"refusals":[` +
			strings.Repeat(`{"row":7,"member":"price","reason":"is none"},`, 29) +
			`{"row":9,"member":"sku","reason":"last"}],"refusals_url":"https://files.example/r.csv"`, 0,
			"row 7: price: is none\n… and 10 more rows: https://files.example/r.csv\n"},
		"a run that fails": {"shop.csv", "sku", "csv", "text/csv",
			`"state":"failed","failure":{"code":"unreadable","message":"The feed has no rows."}`, 9, "has no rows"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), c.file)
			if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			var declared, set, stored string
			looks := 0
			var env map[string]string
			env = answering(t, func(req *http.Request) string {
				body, _ := io.ReadAll(req.Body)
				switch req.Method + " " + req.URL.Path {
				case "GET /v1/factories/fac_1/feed":
					return `{"currency":"EUR","photos":"all","schedule":"daily","mapping":{"sku":"Artikel"}}`
				case "POST /v1/media":
					declared = string(body)
					return `{"id":"med_1","state":"pending","upload":{"method":"PUT","url":"` + env["BASE_URL"] +
						`/store","headers":{}}}`
				case "PUT /store":
					stored = string(body)
				case "GET /v1/media/med_1":
					return `{"id":"med_1","state":"ready"}`
				case "PUT /v1/factories/fac_1/feed":
					set = string(body)
				case "POST /v1/factories/fac_1/feed/sync":
					return `{"id":"run_1","factory_id":"fac_1","state":"queued"}`
				case "GET /v1/factories/fac_1/feed/runs/run_1":
					if looks++; looks == 1 {
						return `{"id":"run_1","factory_id":"fac_1","state":"running","total":4,"created":2}`
					}
					return fmt.Sprintf(`{"id":"run_1","factory_id":"fac_1","total":4,"created":4,%s}`, c.end)
				default:
					t.Errorf("%s %s", req.Method, req.URL.Path)
				}
				return "{}"
			})
			code, out, notes := play(env, "feed", "push", file, "--factory-id", "fac_1")
			if code != c.code || !strings.Contains(notes, c.notes) || stored != c.text || strings.Contains(notes, "\r") {
				t.Errorf("%d %s%s: %q was stored", code, out, notes, stored)
			}
			if strings.Contains(out, "refusals  ") {
				t.Errorf("the refusals are twice in %s", out)
			}
			if c.code == 0 && (!strings.Contains(out, "run_1") || looks != 2) {
				t.Errorf("after %d looks: %s", looks, out)
			}
			if !strings.Contains(declared, c.mime) {
				t.Errorf("declared is %s", declared)
			}
			for _, part := range []string{`"media_id":"med_1"`, `"format":"` + c.format + `"`, `"currency":"EUR"`,
				`"photos":"all"`} {
				if !strings.Contains(set, part) {
					t.Errorf("set is %s, without %s", set, part)
				}
			}
			if strings.Contains(set, "schedule") || strings.Contains(set, "mapping") != (c.format == "csv") {
				t.Errorf("set is %s", set)
			}
		})
	}
}

// A terminal shows a bar, and after Ctrl-C how to see the run, which goes on.
func TestThePushOfAFeedIsInterrupted(t *testing.T) {
	file := filepath.Join(t.TempDir(), "shop.csv")
	if err := os.WriteFile(file, []byte("sku,name,price\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	env := answering(t, func(req *http.Request) string {
		switch req.Method + " " + req.URL.Path {
		case "POST /v1/media", "GET /v1/media/med_1":
			return `{"id":"med_1","state":"ready","upload":null}`
		case "POST /v1/factories/fac_1/feed/sync":
			return `{"id":"run_1","factory_id":"fac_1","state":"queued"}`
		case "GET /v1/factories/fac_1/feed/runs/run_1":
			return `{"id":"run_1","factory_id":"fac_1","state":"running","total":4,"created":2}`
		}
		return "{}"
	})
	var out, notes bytes.Buffer
	ctx, interrupt := context.WithCancel(t.Context())
	code := run(ctx, []string{"feed", "push", file, "--factory-id", "fac_1"}, machine{out: &out, notes: &notes, terminal: true,
		getenv: func(name string) string { return env[name] }, now: time.Now,
		wait: func(ctx context.Context, _ time.Duration) error {
			interrupt()
			return ctx.Err()
		}})
	for _, want := range []string{"\r[###############...............] 2 of 4 rows\n", "The run goes on.",
		"feeds wait-for-run fac_1 run_1\n"} {
		if !strings.Contains(notes.String(), want) {
			t.Errorf("%d: %q lacks %q", code, notes.String(), want)
		}
	}
	if code != 130 || out.Len() > 0 {
		t.Errorf("the exit status is %d, and the output %s", code, out.String())
	}
}

// A file that is no feed is refused before it is sent.
func TestFilesThatAreNoFeeds(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"shop.csv": "sku", "empty.csv": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := answering(t, func(req *http.Request) string {
		t.Errorf("%s %s", req.Method, req.URL.Path)
		return "{}"
	})
	for want, args := range map[string][]string{
		"no such file":             {filepath.Join(dir, "none.csv")},
		"is no file with a feed":   {dir},
		"csv is no file with":      {filepath.Join(dir, "empty.csv")},
		"there are csv, google_ts": {filepath.Join(dir, "shop.csv"), "--format", "xls"},
	} {
		code, _, notes := play(env, append([]string{"feed", "push", "--factory-id", "fac_1"}, args...)...)
		if code != 2 || !strings.Contains(notes, want) {
			t.Errorf("%v: %d %s, want %s", args, code, notes, want)
		}
	}
}
