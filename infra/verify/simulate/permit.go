package simulate

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"

	"github.com/content-automation/api/infra/verify/permit"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/service/api"
)

// routing has the patterns of all paths, and owners the function of each pattern.
var routing = sync.OnceValues(func() (*http.ServeMux, map[string]string) {
	mux, owners := http.NewServeMux(), map[string]string{}
	for _, r := range slices.Concat(api.Routes(), api.PublicRoutes, api.GuardedRoutes) {
		path := strings.ReplaceAll(r.Path, "+}", "...}") // as the gateway writes the rest of a path
		if path == "/" {
			path = "/{$}"
		}
		pattern := strings.TrimSpace(r.Method + " " + path)
		mux.Handle(pattern, http.NotFoundHandler())
		owners[pattern] = r.Function
	}
	return mux, owners
})

// serving returns the function that the gateway calls for a request.
func serving(method, path string) topology.Function {
	mux, owners := routing()
	_, pattern := mux.Handler(httptest.NewRequest(method, path, nil))
	if owners[pattern] == "" {
		panic("simulate: no function serves " + method + " " + path)
	}
	return topology.FunctionNamed(owners[pattern])
}

// permit notes what a call of the state table lacks the permission for. The call is carried out all the same, so that
// one run finds all that is missing.
func (w *world) permit(f topology.Function, in any) {
	if u, ok := w.Withheld[f.Name]; ok {
		f.State = slices.DeleteFunc(slices.Clone(f.State), func(is topology.Use) bool { return is == u })
	}
	missing := permit.Missing(f, permit.State, in)
	if missing == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, sentence := range missing {
		w.forbidden[sentence] = true
	}
}
