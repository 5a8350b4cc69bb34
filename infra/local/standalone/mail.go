package standalone

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"html/template"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/area/people"
)

// mailPath is the page of the e-mails, which nobody sends here.
const mailPath = "/_mails"

// Mail is an e-mail that the service would have sent.
type Mail struct {
	At time.Time `json:"at"`
	people.Message
	Headers map[string]string
}

// mails keep e-mails, each in a file of its own. Its name begins with the time.
type mails struct {
	blobs blobs
	now   func() time.Time
}

var _ people.Mailer = mails{}

// Send implements people.Mailer.
func (m mails) Send(_ context.Context, sent people.Message) error {
	at := m.now().UTC()
	text, err := json.MarshalIndent(Mail{at, sent, sent.Headers()}, "", "  ")
	if err != nil {
		return err
	}
	return m.blobs.put(at.Format("20060102T150405.000000000Z")+"-"+rand.Text()[:6]+".json", bytes.NewReader(text))
}

// newestMails is the number of e-mails on the page.
const newestMails = 100

// list returns the newest e-mails by their names, newest first.
func (m mails) list() (names []string, all map[string]Mail, err error) {
	if names, err = m.blobs.list(""); err != nil {
		return nil, nil, err
	}
	slices.Reverse(names)
	names = names[:min(len(names), newestMails)]
	all = map[string]Mail{}
	for _, name := range names {
		file, _, err := m.blobs.open(name)
		if err != nil {
			return nil, nil, err
		}
		var one Mail
		err = json.NewDecoder(io.LimitReader(file, 1<<20)).Decode(&one)
		_ = file.Close()
		if err != nil {
			return nil, nil, err
		}
		all[name] = one
	}
	return names, all, nil
}

// Mails returns the newest e-mails, newest first.
func (s *Service) Mails() ([]Mail, error) {
	names, all, err := s.mails.list()
	sorted := make([]Mail, len(names))
	for i, name := range names {
		sorted[i] = all[name]
	}
	return sorted, err
}

var mailPage = template.Must(template.New("").Parse(`<!doctype html><html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1"><meta name="color-scheme" content="light dark">
<title>E-mails</title><style>body{font:16px/1.5 system-ui;max-width:46rem;margin:2rem auto;padding:0 1rem}` +
	`article{border:1px solid #8886;border-radius:8px;padding:1rem;margin:1rem 0}pre{white-space:pre-wrap;` +
	`overflow-wrap:anywhere;font:inherit}small{opacity:.7}h2{font-size:1.1rem;margin:.25rem 0}</style>
<main><h1>E-mails</h1><p>The local service sends none. It keeps them here{{with .Dir}}, and in {{.}}{{end}}.</p>
{{range .Names}}{{with index $.All .}}<article><small>{{.At.Format "2006-01-02 15:04:05 UTC"}} · to {{.To}}</small>
<h2>{{.Subject}}</h2><pre>{{.Text}}</pre>{{end}}<a href="` + mailPath + `/{{.}}">As HTML</a></article>
{{else}}<p>There are none yet.</p>{{end}}</main></html>`))

// serveMails shows the e-mails: the list as a page, or as JSON to who accepts that, and one of them as its reader sees
// it.
func (s *Service) serveMails(w http.ResponseWriter, r *http.Request) {
	names, all, err := s.mails.list()
	if err != nil {
		slog.Error("the e-mails cannot be read", "error", err)
		http.Error(w, "The e-mails cannot be read.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
	if one, ok := all[strings.TrimPrefix(r.URL.Path, mailPath+"/")]; ok {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, one.HTML)
		return
	}
	if strings.Contains(r.Header.Get("Accept"), "application/json") {
		sorted := make([]Mail, len(names))
		for i, name := range names {
			sorted[i] = all[name]
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(sorted)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	dir := ""
	if f, ok := s.mails.blobs.(folder); ok {
		dir = string(f)
	}
	_ = mailPage.Execute(w, map[string]any{"Names": names, "All": all, "Dir": dir})
}
