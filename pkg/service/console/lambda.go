package console

import (
	"cmp"
	"context"
	"net/http"
	"sync"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/pkg/base/web"
	"github.com/content-automation/api/pkg/cloud/proxy"
)

// opened is the handler of an address, which is made at its first event.
type opened struct {
	open func(base string) (http.Handler, error)

	mu      sync.Mutex
	base    string
	handler http.Handler
}

func (o *opened) at(base string) (http.Handler, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.handler == nil || o.base != base {
		handler, err := o.open(base)
		if err != nil {
			return nil, err
		}
		o.base, o.handler = base, handler
	}
	return o.handler, nil
}

// Lambda adapts the account area to the events of API Gateway (payload format 1.0). Open returns the handler for the
// address that the browser uses.
func Lambda(open func(base string) (http.Handler, error)) func(context.Context,
	events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error) {
	o := &opened{open: open}
	return proxy.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The gateway's id replaces the id that the browser sent.
		gateway, _ := proxy.Gateway(r.Context())
		w.Header().Set("X-Request-Id", gateway.RequestID)
		handler, err := o.at(web.BaseURL(cmp.Or(r.Header.Get("Host"), r.Host), gateway.Stage))
		if err != nil {
			http.Error(w, messageUnavailable, http.StatusServiceUnavailable)
			return
		}
		handler.ServeHTTP(w, r)
	}))
}
