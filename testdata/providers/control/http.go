package control

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// Samples returns media for a fake: the n-th file of a kind and aspect ratio ("" for any), with
// its name. sample.File is one.
type Samples func(kind, ratio string, n uint) (name string, content []byte, err error)

// Base returns the address at which a fake is reached, for addresses in its answers. It
// includes a prefix that http.StripPrefix has removed.
func Base(r *http.Request) string {
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	asked, _, _ := strings.Cut(r.RequestURI, "?")
	return scheme + "://" + r.Host + strings.TrimSuffix(asked, r.URL.EscapedPath())
}

// Order is the body of POST /_control.
type Order struct {
	Provider  string  `json:"provider"`
	Operation string  `json:"operation"`
	Faults    []Fault `json:"faults"`
}

// ServeHTTP controls running fakes. POST /_control queues the faults of an Order, DELETE
// /_control resets the control, and GET /_control/log returns the acceptances.
func (c *Control) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.Method + " " + r.URL.Path {
	case "POST /_control":
		var order Order
		d := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20))
		d.DisallowUnknownFields()
		if err := d.Decode(&order); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		known := func(f Fault) bool { return slices.Contains(kinds, f.Kind) }
		if order.Provider == "" || order.Operation == "" || len(order.Faults) == 0 || !all(order.Faults, known) {
			http.Error(w, "want a provider, an operation and faults of known kinds", http.StatusBadRequest)
			return
		}
		c.Queue(order.Provider, order.Operation, order.Faults...)
		w.WriteHeader(http.StatusNoContent)
	case "DELETE /_control":
		c.Reset()
		w.WriteHeader(http.StatusNoContent)
	case "GET /_control/log":
		w.Header().Set("Content-Type", "application/json")
		accepted := c.Accepted()
		if accepted == nil {
			accepted = []Acceptance{}
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"accepted": accepted}) // the caller may have gone
	default:
		http.NotFound(w, r)
	}
}

func all(faults []Fault, ok func(Fault) bool) bool {
	return !slices.ContainsFunc(faults, func(f Fault) bool { return !ok(f) })
}
