package safehttp_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/cloud/safehttp"
)

// hostileURLs are refused by their form or by the address in them, without any
// look-up: the name server of the test knows none of the names.
var hostileURLs = map[string][]string{
	"scheme": {
		"http://hooks.acme.dev/", "HTTP://hooks.acme.dev/", "ftp://hooks.acme.dev/", "file:///etc/passwd",
		"gopher://hooks.acme.dev/", "javascript:alert(1)", "data:text/html,x", "unix:///var/run/docker.sock",
		"//hooks.acme.dev/", "hooks.acme.dev", "", "https:hooks.acme.dev", "https:/hooks.acme.dev", "https://",
		"https:///path", "https://:443/",
	},
	"user name, fragment, characters": {
		"https://user@hooks.acme.dev/", "https://user:secret@hooks.acme.dev/",
		"https://hooks.acme.dev@169.254.169.254/",
		"https://@hooks.acme.dev/", "https://hooks.acme.dev%40169.254.169.254/",
		"https://hooks.acme.dev:443@127.0.0.1/",
		"https://hooks.acme.dev/#fragment", "https://hooks.acme.dev/#", "https://hooks.acme.dev#@127.0.0.1/",
		`https://hooks.acme.dev\@127.0.0.1/`, `https://127.0.0.1\.acme.dev/`, `https:\\127.0.0.1\`,
		" https://hooks.acme.dev/", "https://hooks.acme.dev/ ", "https://hooks.acme.dev/\r\nHost:x",
		"https://hooks.acme.dev/\tx",
		"https://hooks.acme.dev/\x00", "https://hooks.acme.dev/%zz",
		"https://hooks.acme.dev/" + strings.Repeat("a", 2048),
	},
	"port": {
		"https://hooks.acme.dev:80/", "https://hooks.acme.dev:22/", "https://hooks.acme.dev:8443/",
		"https://hooks.acme.dev:0/",
		"https://hooks.acme.dev:65979/", "https://hooks.acme.dev:-1/", "https://hooks.acme.dev:https/",
		"https://8.8.8.8:6379/",
		"https://[2606:4700::1111]:22/",
	},
	"IPv4 in its four numbers": {
		"https://127.0.0.1/", "https://127.127.127.127/", "https://0.0.0.0/", "https://0.1.2.3/", "https://10.0.0.1/",
		"https://172.16.0.1/", "https://172.31.255.255/", "https://192.168.1.1/",
		"https://169.254.169.254/latest/meta-data/",
		"https://169.254.170.2/v2/credentials", "https://100.64.0.1/", "https://100.100.100.200/",
		"https://192.0.0.192/",
		"https://192.0.2.1/", "https://198.51.100.1/", "https://203.0.113.1/", "https://198.18.0.1/",
		"https://198.19.255.255/",
		"https://192.88.99.1/", "https://224.0.0.1/", "https://239.255.255.255/", "https://240.0.0.1/",
		"https://255.255.255.255/",
		"https://168.63.129.16/machine", "https://192.31.196.1/", "https://192.52.193.1/", "https://192.175.48.1/",
	},
	"IPv4 in other forms": {
		"https://2130706433/", "https://2852039166/", "https://0x7f000001/", "https://0x7f.0x0.0x0.0x1/",
		"https://0X7F.0.0.1/",
		"https://0177.0.0.1/", "https://017700000001/", "https://127.1/", "https://127.0.1/", "https://0/",
		"https://10.1/",
		"https://127.0.0.01/", "https://127.0.0.1./", "https://169.254.43518/", "https://0251.0376.0251.0376/",
		"https://256.256.256.256/", "https://127.0.0.1.1/", "https://1.1.1/", "https://8.8.8.010/", "https://a.b.0x7f/",
	},
	"IPv6": {
		"https://[::1]/", "https://[0:0:0:0:0:0:0:1]/", "https://[::]/", "https://[::127.0.0.1]/",
		"https://[::ffff:127.0.0.1]/",
		"https://[::ffff:7f00:1]/", "https://[::ffff:169.254.169.254]/", "https://[0:0:0:0:0:ffff:a00:1]/",
		"https://[::ffff:8.8.8.8]/",
		"https://[::ffff:0:127.0.0.1]/", "https://[64:ff9b::7f00:1]/", "https://[64:ff9b::169.254.169.254]/",
		"https://[64:ff9b:1::1]/",
		"https://[2002:7f00:1::]/", "https://[2002:a9fe:a9fe::1]/", "https://[2001:0:53aa:64c:0:fbff:80ff:fffe]/",
		"https://[2001:db8::1]/",
		"https://[3fff::1]/", "https://[fc00::1]/", "https://[fd00:ec2::254]/", "https://[fd20:ce::254]/",
		"https://[fe80::1]/", "https://[fec0::1]/",
		"https://[fe80::1%25eth0]/", "https://[2606:4700::1111%25eth0]/", "https://[ff02::1]/", "https://[100::1]/",
		"https://[5f00::1]/",
		"https://[2001:10::1]/", "https://[2001:20::1]/", "https://[2001:2::1]/", "https://[2620:4f:8000::1]/",
		"https://[4000::1]/",
		"https://[2606:4700:0:1:0:5efe:10.0.0.1]/", "https://[2606:4700:0:1:200:5efe:a00:1]/", "https://[3ffe::1]/",
		"https://[::1/", "https://::1/", "https://[v1.x]/", "https://[]/", "https://[127.0.0.1]/",
	},
	"names": {
		"https://localhost/", "https://LOCALHOST/", "https://localhost./", "https://app.localhost/",
		"https://metadata/",
		"https://metadata.google.internal/", "https://METADATA.GOOGLE.INTERNAL/", "https://metadata.google.internal./",
		"https://instance-data/", "https://instance-data.ec2.internal/", "https://metadata.azure.internal/",
		"https://printer.local/",
		"https://host.docker.internal/", "https://kubernetes.default.svc.cluster.local/", "https://nas.home.arpa/",
		"https://1.0.0.127.in-addr.arpa/",
		"https://router.lan/", "https://db.corp/", "https://wiki.intranet/", "https://a.private/",
		"https://localhost.localdomain/",
		"https://hooks.test/", "https://hooks.example/", "https://hooks.invalid/",
		"https://facebookwkhpilnemxj7asaniu7vnjjbiltxjqhye3mhbshg7kx5tfyd.onion/",
		"https://intranet/", "https://hooks.acme.dev./", "https://hooks..acme.dev/", "https://.acme.dev/",
		"https://-a.acme.dev/", "https://a-.acme.dev/",
		"https://" + strings.Repeat("a", 64) + ".acme.dev/", "https://" + strings.Repeat("a.", 130) + "dev/",
		"https://ho$ks.acme.dev/",
		"https://hooks.acme.dev,127.0.0.1/", "https://*.acme.dev/",
	},
	"Unicode and escapes": {
		"https://①②⑦.⓪.⓪.①/", "https://127。0。0。1/", "https://127.0.0.1/", "https://ⓛocalhost/",
		"https://loc\u00adalhost/",
		"https://hooks。acme。dev/", "https://hooks.acme.dev/日本", "https://müller.dev/", "https://%31%32%37.0.0.1/",
		"https://127%2e0%2e0%2e1/",
		"https://localhost%00.acme.dev/", "https://\u202elocalhost/", "https://hooks.acme\u2024dev/",
		"https://[\uff1a\uff1a1]/",
	},
}

func TestCheckURLRefusesHostileURLs(t *testing.T) {
	ns := newNameServer(t)
	client := safehttp.New(safehttp.Options{Resolver: ns.resolver()})
	count := 0
	for group, urls := range hostileURLs {
		for _, raw := range urls {
			count++
			var refused *safehttp.BlockedError
			if err := client.CheckURL(t.Context(), raw); !errors.As(err, &refused) || refused.Reason == "" {
				t.Errorf("%s: CheckURL(%q) = %v, want a *BlockedError with a reason", group, raw, err)
			}
		}
	}
	if count < 60 {
		t.Errorf("%d hostile URLs, want at least 60", count)
	}
	if asked := ns.questions(); len(asked) > 0 {
		t.Errorf("these were looked up, so their form was not refused: %q", asked)
	}
}

func TestCheckURLRefusesNamesOfHostileAddresses(t *testing.T) {
	hostile := [][]string{
		{"127.0.0.1"}, {"10.1.2.3"}, {"172.20.0.5"}, {"192.168.0.10"}, {"169.254.169.254"}, {"100.64.1.1"}, {"0.0.0.0"},
		{"224.0.0.251"},
		{"255.255.255.255"}, {"203.0.113.7"}, {"168.63.129.16"}, {"::1"}, {"fd00:ec2::254"}, {"fe80::1"},
		{"::ffff:10.0.0.1"}, {"::ffff:169.254.169.254"},
		{"64:ff9b::a9fe:a9fe"}, {"2002:a9fe:a9fe::1"}, {"2001:0:53aa:64c:0:fbff:80ff:fffe"},
		{"2606:4700:0:1:0:5efe:a00:1"}, {"ff02::fb"}, {"::"},
		{"93.184.215.14", "10.0.0.1"}, {"93.184.215.14", "::1"}, {"2606:4700::1111", "127.0.0.1"},
	}
	ns := newNameServer(t)
	client := safehttp.New(safehttp.Options{Resolver: ns.resolver()})
	for _, addrs := range hostile {
		ns.set("hooks.acme.dev", addrs)
		err := client.CheckURL(t.Context(), "https://hooks.acme.dev/in?x=1")
		var refused *safehttp.BlockedError
		if !errors.As(err, &refused) {
			t.Errorf("a name of %v: CheckURL = %v, want a *BlockedError", addrs, err)
			continue
		}
		for _, a := range addrs {
			if strings.Contains(err.Error(), a) || strings.Contains(refused.Reason, a) {
				t.Errorf("the error tells the resolved address: %v", err)
			}
		}
	}
}

func TestCheckURLAcceptsPublicURLs(t *testing.T) {
	ns := newNameServer(t)
	ns.set("hooks.acme.dev", []string{"93.184.215.14", "2606:4700::1111"})
	ns.set("xn--mller-kva.dev", []string{"93.184.215.14"})
	ns.set("a_b.x1.0x.acme.dev", []string{"2606:4700::1111"})
	ns.set("mapped.acme.dev", []string{"::ffff:93.184.215.14"}) // the dialer connects to the IPv4 address
	client := safehttp.New(safehttp.Options{Resolver: ns.resolver(), Ports: []uint16{443, 8443}})
	for _, raw := range []string{
		"https://mapped.acme.dev/",
		"https://hooks.acme.dev", "https://hooks.acme.dev/a/b?c=d&e=%20@", "HTTPS://Hooks.Acme.DEV:443/",
		"https://hooks.acme.dev:8443/",
		"https://xn--mller-kva.dev/", "https://a_b.x1.0x.acme.dev/", "https://8.8.8.8/", "https://[2606:4700::1111]/",
		"https://[2606:4700::1111]:8443/",
	} {
		if err := client.CheckURL(t.Context(), raw); err != nil {
			t.Errorf("CheckURL(%q) = %v, want nil", raw, err)
		}
	}
}

func TestCheckURLTellsMissingNamesFromFailedLookups(t *testing.T) {
	ns := newNameServer(t)
	client := safehttp.New(safehttp.Options{Resolver: ns.resolver()})
	var refused *safehttp.BlockedError
	if err := client.CheckURL(t.Context(), "https://hooks.acme.dev/"); !errors.As(err, &refused) {
		t.Errorf("a name that does not exist: %v, want a *BlockedError", err)
	}
	for _, asked := range ns.questions() {
		if asked != "hooks.acme.dev." {
			t.Errorf("looked up %q: the search domains must not be tried", asked)
		}
	}
	ns.fail()
	if err := client.CheckURL(t.Context(), "https://hooks.acme.dev/"); !errors.Is(err, safehttp.ErrLookup) {
		t.Errorf("a failing name server: %v, want ErrLookup", err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := client.CheckURL(gone, "https://hooks.acme.dev/"); !errors.Is(err, safehttp.ErrLookup) {
		t.Errorf("a canceled context: %v, want ErrLookup", err)
	}
}

func TestAllowLoopbackAllowsNothingElse(t *testing.T) {
	ns := newNameServer(t)
	ns.set("local.acme.dev", []string{"127.0.0.1"})
	ns.set("public.acme.dev", []string{"93.184.215.14"})
	ns.set("mixed.acme.dev", []string{"127.0.0.1", "93.184.215.14"})
	ns.set("private.acme.dev", []string{"10.0.0.1"})
	client := safehttp.New(safehttp.Options{Resolver: ns.resolver(), AllowLoopback: true})
	for _, raw := range []string{
		"http://127.0.0.1:9000/hook", "http://localhost:9000/hook", "http://[::1]:9000/hook", "https://127.0.0.1:9443/",
		"http://127.0.0.1/",
		"http://local.acme.dev:9000/", "https://public.acme.dev/", "https://8.8.8.8/",
	} {
		if err := client.CheckURL(t.Context(), raw); err != nil {
			t.Errorf("CheckURL(%q) = %v, want nil", raw, err)
		}
	}
	for _, raw := range []string{
		"http://public.acme.dev/", "https://public.acme.dev:9000/", "http://mixed.acme.dev/",
		"https://private.acme.dev/", "http://private.acme.dev:9000/",
		"http://10.0.0.1:9000/", "https://169.254.169.254/", "http://8.8.8.8/", "https://8.8.8.8:9000/",
		"http://0.0.0.0:9000/", "http://[::ffff:10.0.0.1]/",
		"http://user@127.0.0.1/", "http://127.1:9000/", "http://2130706433/", "ftp://127.0.0.1/", "http://127.0.0.1/#x",
		"http://metadata.google.internal/",
		"http://[::1%25lo]:9000/",
	} {
		var refused *safehttp.BlockedError
		if err := client.CheckURL(t.Context(), raw); !errors.As(err, &refused) {
			t.Errorf("CheckURL(%q) = %v, want a *BlockedError", raw, err)
		}
	}
}

func TestTheRefusalOfAPortSaysWhichToUse(t *testing.T) {
	for want, ports := range map[string][]uint16{
		"The port 22 is not allowed: use 443.":         nil,
		"The port 22 is not allowed: use 443 or 8443.": {443, 8443},
	} {
		client := safehttp.New(safehttp.Options{Resolver: newNameServer(t).resolver(), Ports: ports})
		for _, raw := range []string{"https://hooks.acme.dev:22/", "https://93.184.215.14:22/"} {
			var refused *safehttp.BlockedError
			if err := client.CheckURL(t.Context(), raw); !errors.As(err, &refused) || refused.Reason != want {
				t.Errorf("%s: %v, want %q", raw, err, want)
			}
		}
	}
}
