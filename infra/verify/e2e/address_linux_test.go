package e2e

import (
	"context"
	"math/rand/v2"
	"net"
	"net/http"
	"time"

	settings "github.com/content-automation/api/infra/app/customer"
)

// keylessLimit is that of customers that set none: the calls of the tests come from many addresses.
const keylessLimit = settings.DefaultKeylessLimit

// Each connection of the tests to this machine comes from an address of its own, as those of many callers do.
func init() {
	shared := http.DefaultTransport.(*http.Transport) //nolint:forcetypeassert // it is documented
	shared.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		dialer := net.Dialer{Timeout: 30 * time.Second}
		if host, _, err := net.SplitHostPort(address); err == nil && (host == "127.0.0.1" || host == "localhost") {
			dialer.LocalAddr = &net.TCPAddr{IP: net.IPv4(127, 1, byte(rand.IntN(256)), byte(1+rand.IntN(254)))}
			network = "tcp4"
		}
		return dialer.DialContext(ctx, network, address)
	}
}
