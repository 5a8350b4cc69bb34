package meta

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"

	"github.com/content-automation/api/testdata/platforms/control"
)

// Case is an answer that a fake can give in place of its own, and the document or report that has it.
type Case struct {
	control.Answer
	Source string
}

// Cases are answers by their names.
type Cases map[string]Case

// The documents.
const (
	Errors      = "Graph API, Handling Errors"
	Limits      = "Graph API, Rate Limits"
	VideoErrors = "Video API, Error Codes"
	BoxErrors   = "Instagram Platform, Error Codes"
)

// Add adds a refusal of the calls that match, once. Its name is that of the call with the code and the subcode.
func (c Cases) Add(call, pattern string, r Refusal, source string) {
	name := fmt.Sprintf("%s %d", call, r.Code)
	if r.Subcode != 0 {
		name += fmt.Sprintf("/%d", r.Subcode)
	}
	if r.Transient {
		name += " transient"
	}
	if r.Status >= http.StatusInternalServerError {
		name += fmt.Sprintf(" status %d", r.Status)
	}
	if r.Said == "" {
		r.Said = "Meta says " + name + "."
	}
	c.say(name, pattern, max(r.Status, http.StatusBadRequest), nil, r.Body(), source)
}

// State adds an answer with a body, once.
func (c Cases) State(name, pattern, body, source string) {
	c.say(name, pattern, http.StatusOK, nil, body, source)
}

func (c Cases) say(name, pattern string, status int, header http.Header, body, source string) {
	if _, ok := c[name]; ok {
		panic("two answers are called " + name)
	}
	c[name] = Case{control.Answer{Call: regexp.MustCompile(pattern), Status: status, Header: header, Body: body}, source}
}

// Limit adds a refusal of too many calls with a header.
func (c Cases) Limit(name, pattern string, r Refusal, header, value string) {
	status := max(r.Status, http.StatusBadRequest)
	c.say(name, pattern, status, http.Header{header: {value}}, r.Body(), Limits)
}

// Common returns the answers of all platforms of Meta to a call that prepares a post and to one that makes it.
func Common(prepare, post string) Cases {
	c := Cases{}
	for _, r := range []Refusal{{Code: 1}, {Code: 2, Transient: true}, {Code: 100, Transient: true}, {Code: 4},
		{Code: 4, Transient: true}, {Code: 17}, {Code: 32}, {Code: 341}, {Code: 613}, {Code: 80001}, {Code: 80002},
		{Code: 80014}, {Code: 102}, {Code: 190}, {Code: 190, Subcode: 458}, {Code: 190, Subcode: 459},
		{Code: 190, Subcode: 460}, {Code: 190, Subcode: 463}, {Code: 190, Subcode: 464}, {Code: 190, Subcode: 467},
		{Code: 190, Subcode: 492}, {Code: 10}, {Code: 200}, {Code: 283}, {Code: 368}, {Code: 506},
		{Code: 803}, {Code: 100}, {Code: 3}, {Code: 1609005}} {
		if r.Code == 32 || r.Code == 613 || r.Code >= 80000 && r.Code <= 80014 {
			c.Add("prepare", prepare, r, Limits)
			c.Add("post", post, r, Limits)
			continue
		}
		c.Add("prepare", prepare, r, Errors)
		c.Add("post", post, r, Errors)
	}
	const publisher = "gitroomhq/postiz-app facebook.provider.ts"
	c.Add("post", post, Refusal{Code: 190, Subcode: 490}, publisher)
	c.Add("post", post, Refusal{Code: 368, Subcode: 1390008}, publisher)
	c.Add("post", post, Refusal{Code: 368, Subcode: 1346003}, "fbsamples/original-coast-clothing #67")
	c.Add("post", post, Refusal{Code: 100, Subcode: 33, Said: "The page was deleted by its owner."}, publisher)
	c.Add("prepare", prepare, Refusal{Code: 100, Subcode: 33}, publisher)
	const unknown = "no document: a code that nobody knows"
	c.Add("prepare", prepare, Refusal{Code: 987654}, unknown)
	c.Add("prepare", prepare, Refusal{Code: 200, Subcode: 9876543}, unknown)
	c.Add("post", post, Refusal{Code: 987654}, unknown)
	c.Add("post", post, Refusal{Code: 10, Subcode: 9876543}, unknown)
	c.Add("post", post, Refusal{Code: 987654, Status: http.StatusInternalServerError}, unknown)
	c.Add("post", post, Refusal{Code: 10, Status: http.StatusInternalServerError}, "tirthpatell/threads-go #30")
	c.Limit("post 80001 for 7 minutes", post, Refusal{Code: 80001}, "X-Business-Use-Case-Usage",
		`{"178":[{"type":"pages","call_count":100,"total_cputime":20,"total_time":20,`+
			`"estimated_time_to_regain_access":7},{"type":"instagram","estimated_time_to_regain_access":3}]}`)
	c.Limit("prepare 4 at twice the limit", prepare, Refusal{Code: 4}, "X-App-Usage",
		`{"call_count":200,"total_time":25,"total_cputime":25}`)
	c.Limit("prepare 32 for 90 seconds", prepare, Refusal{Code: 32, Status: http.StatusTooManyRequests}, "Retry-After",
		"90")
	return c
}

// Boxes returns the answers of the platforms that publish by containers.
func Boxes(create, publish string) Cases {
	c := Common(create, publish)
	for code, subcodes := range map[int][]int{-2: {2207003, 2207020}, -1: {2207001, 2207032, 2207053},
		1: {2207057}, 9: {2207042}, 100: {2207023, 2207028, 2207035, 2207036, 2207037, 2207040}, 352: {2207026},
		9004: {2207052}, 36000: {2207004}, 36001: {2207005}, 36003: {2207009}, 36004: {2207010}, 25: {2207050},
		4: {2207051}} {
		for _, subcode := range subcodes {
			c.Add("prepare", create, Refusal{Code: code, Subcode: subcode}, BoxErrors)
		}
	}
	for code, subcodes := range map[int][]int{-2: {2207003, 2207020}, -1: {2207001, 2207032, 2207053}, 9: {2207042},
		24: {2207006, 2207008}, 9007: {2207027}, 4: {2207051}, 25: {2207050}} {
		for _, subcode := range subcodes {
			c.Add("post", publish, Refusal{Code: code, Subcode: subcode}, BoxErrors)
		}
	}
	return c
}

// With returns the answers with those of others.
func (c Cases) With(others Cases) Cases {
	all := maps.Clone(c)
	maps.Copy(all, others)
	return all
}

// Split returns the answers, and their sources.
func (c Cases) Split() (answers map[string]control.Answer, sources map[string]string) {
	answers, sources = map[string]control.Answer{}, map[string]string{}
	for name, one := range c {
		answers[name], sources[name] = one.Answer, one.Source
	}
	return answers, sources
}
