package factory

import (
	"bytes"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/base/errs"
)

// Source is a source of a channel: an address that is read, or the name of one, which the texts may mention.
type Source struct {
	URL, Kind string
	Name      string
}

// sourceObject is the form of a source with an address.
type sourceObject struct {
	URL  string `json:"url"`
	Kind string `json:"kind"`
}

// UnmarshalJSON reads both forms of a source.
func (s *Source) UnmarshalJSON(data []byte) error {
	*s = Source{}
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte(`"`)) {
		return json.Unmarshal(data, &s.Name)
	}
	var o sourceObject
	if err := json.Unmarshal(data, &o); err != nil {
		return err
	}
	s.URL, s.Kind = o.URL, o.Kind
	return nil
}

// MarshalJSON writes a source in the form in which it was read.
func (s Source) MarshalJSON() ([]byte, error) {
	if s.URL == "" {
		return json.Marshal(s.Name)
	}
	return json.Marshal(sourceObject{s.URL, s.Kind})
}

// maxSourceURL is the longest address of a source.
const maxSourceURL = 2000

// Schema describes a source in the OpenAPI document.
func (Source) Schema(huma.Registry) *huma.Schema {
	longest := maxSourceURL
	address := &huma.Schema{Type: huma.TypeString, Format: "uri", MaxLength: &longest,
		Description: "Address of the source: https"}
	kind := &huma.Schema{Type: huma.TypeString, Enum: []any{"feed", "page"},
		Description: "feed: RSS, Atom or JSON Feed. page: a page with one article"}
	object := &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{"url": address, "kind": kind},
		Required: []string{"url", "kind"}, AdditionalProperties: false}
	object.PrecomputeMessages()
	s := &huma.Schema{OneOf: []*huma.Schema{object, lineOf(200)}}
	s.PrecomputeMessages()
	return s
}

// checkSources refuses addresses that cannot be read, and a setting that needs an address without one. needs is the
// name of the setting.
func checkSources(all []Source, needs string, on *bool) error {
	var found []error
	for i, s := range all {
		param := "/settings/sources/" + strconv.Itoa(i)
		if s.URL == "" {
			continue
		}
		if u, err := url.Parse(s.URL); err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil {
			found = append(found, errs.Invalid(param+"/url", "must be an https address"))
		}
		if slices.ContainsFunc(all[:i], func(o Source) bool { return o.URL == s.URL }) {
			found = append(found, errs.Invalid(param+"/url", "is listed twice: %s", s.URL))
		}
	}
	if on != nil && *on && !slices.ContainsFunc(all, func(s Source) bool { return s.URL != "" }) {
		found = append(found, errs.Invalid("/settings/"+needs, "needs a source to read: add an object with url and "+
			"kind to sources, or leave the setting out"))
	}
	return errs.All(found...)
}

// check refuses sources that cannot be read.
func (s *NewsSettings) check() error { return checkSources(s.Sources, "fact_check", s.FactCheck) }

// check refuses sources that cannot be read.
func (s *ExpertSettings) check() error { return checkSources(s.Sources, "cite_sources", s.CiteSources) }
