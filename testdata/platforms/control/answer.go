package control

import (
	"io"
	"net/http"
	"regexp"
)

// Answer is an answer that a call gets in place of that of the platform. The call has no effect.
type Answer struct {
	// Call matches the method and the path of the call, such as "^POST /2/tweets$".
	Call *regexp.Regexp
	// After is how many such calls are answered as usual before.
	After int
	// Times is how often the answer is given; 0 stands for once, and -1 for always.
	Times  int
	Status int
	Header http.Header
	Body   string
}

// Row is an answer that the documents of a platform or public reports describe.
type Row struct {
	Answer
	// Name tells the row from others.
	Name string
	// Source is where the answer is described.
	Source string
}

// Say gives the next call that an answer matches that answer.
func (c *Control) Say(a Answer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if a.Times == 0 {
		a.Times = 1
	}
	c.answers = append(c.answers, a)
}

// said returns the answer for a call, if there is one.
func (c *Control) said(r *http.Request) (Answer, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.answers {
		a := &c.answers[i]
		if a.Times == 0 || !a.Call.MatchString(r.Method+" "+r.URL.Path) {
			continue
		}
		if a.After > 0 {
			a.After--
			continue
		}
		if a.Times > 0 {
			a.Times--
		}
		return *a, true
	}
	return Answer{}, false
}

// write writes the answer.
func (a Answer) write(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body) // the caller may have gone
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	for name, values := range a.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(a.Status)
	_, _ = io.WriteString(w, a.Body)
}
