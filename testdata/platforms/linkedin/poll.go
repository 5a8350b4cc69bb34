package linkedin

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/content-automation/api/testdata/platforms/control"
)

// poll is the poll of a post.
type poll struct {
	Question string `json:"question"`
	Options  []struct {
		Text string `json:"text"`
	} `json:"options"`
	Settings struct {
		Duration string `json:"duration"`
	} `json:"settings"`
}

// fits reports whether the API takes a poll, which may be nil.
func (p *poll) fits() bool {
	if p == nil {
		return true
	}
	for _, o := range p.Options {
		if n := utf8.RuneCountInString(o.Text); n < 1 || n > 30 {
			return false
		}
	}
	n := utf8.RuneCountInString(p.Question)
	return n >= 1 && n <= 140 && len(p.Options) >= 2 && len(p.Options) <= 4 &&
		slices.Contains([]string{"ONE_DAY", "THREE_DAYS", "SEVEN_DAYS", "FOURTEEN_DAYS"}, p.Settings.Duration)
}

// String returns the poll as a part of the content of a post.
func (p *poll) String() string {
	if p == nil {
		return ""
	}
	return fmt.Sprintf(" poll %s %v %s", p.Question, p.Options, p.Settings.Duration)
}

// followers finds the followers of the organisation by the beginning of their name.
func followers(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if q.Get("q") != "organizationFollowers" || q.Get("organization") != Organization || q.Get("keywords") == "" {
		bad(w)
		return
	}
	elements := []any{}
	if strings.HasPrefix("acme", strings.ToLower(q.Get("keywords"))) {
		elements = append(elements, map[string]string{"member": "urn:li:person:133", "firstName": "Acme",
			"lastName": "Ann",
			"headline": "Head of Marketing"})
	}
	control.JSON(w, http.StatusOK, map[string]any{"elements": elements})
}

// named finds an organisation by the name in the address of its page.
func named(w http.ResponseWriter, r *http.Request) {
	elements := []any{}
	if q := r.URL.Query(); q.Get("q") == "vanityName" && q.Get("vanityName") == "acme" {
		elements = append(elements, map[string]any{"id": 5515715, "localizedName": "Acme", "vanityName": "acme"})
	}
	control.JSON(w, http.StatusOK, map[string]any{"elements": elements})
}
