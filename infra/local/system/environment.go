package system

import (
	"os"
	"slices"
	"strings"
)

// The account and the credentials for the emulated AWS, which accepts any.
const (
	awsAccount = "000000000000"
	awsKey     = "test"
)

// passed are the variables of the person at the terminal that a child process gets: the places
// of programs and certificates, and the network's settings. All others stay out of the local
// system, above all AWS credentials.
var passed = []string{
	"PATH", "HOME", "USER", "LANG", "LC_ALL", "TZ", "SHELL",
	"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE",
	"GOPATH", "GOCACHE", "GOMODCACHE", "GOPROXY", "GOFLAGS", "GOTOOLCHAIN", "GONOSUMDB", "GOPRIVATE",
}

// environment returns the environment of a child process: the passed variables and those of set.
func environment(set map[string]string) []string {
	var env []string
	for _, name := range passed {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	// The emulated AWS and the fakes are on this machine, so no proxy may be used.
	env = append(env, "NO_PROXY=127.0.0.1,localhost", "no_proxy=127.0.0.1,localhost")
	for name, value := range set {
		env = append(env, name+"="+value)
	}
	slices.Sort(env)
	return env
}

// withTools returns the environment for a tool that installs something. It includes the
// person's whole environment, with the settings for registries and caches.
func withTools() []string {
	return slices.DeleteFunc(os.Environ(), func(pair string) bool { return strings.HasPrefix(pair, "AWS_") })
}
