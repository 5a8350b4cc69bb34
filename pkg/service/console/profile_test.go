package console

import "testing"

func TestTheDeviceInWords(t *testing.T) {
	const webkit = "AppleWebKit/537.36 (KHTML, like Gecko) "
	for agent, want := range map[string][2]string{
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) " + webkit + "Chrome/141.0.0.0 Safari/537.36":                      {"Chrome", "Windows"},
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) " + webkit + "Chrome/141.0.0.0 Safari/537.36 Edg/141.0.0.0":        {"Edge", "Windows"},
		"Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0":                                      {"Firefox", "Linux"},
		"Mozilla/5.0 (Linux; Android 10; K) " + webkit + "Chrome/141.0.0.0 Mobile Safari/537.36":                      {"Chrome", "Android"},
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Safari/605.1.15":    {"Safari", "macOS"},
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 CriOS/141.0 Mobile Safari/604.1": {"Chrome", "iPhone"},
		"Mozilla/5.0 (iPad; CPU OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML) Version/18 Mobile Safari/604.1":   {"Safari", "iPad"},
		"curl/8.0": {"", ""}, "": {"", ""},
	} {
		if browser, system := device(agent); browser != want[0] || system != want[1] {
			t.Errorf("%q: %q on %q, want %q", agent, browser, system, want)
		}
	}
}
