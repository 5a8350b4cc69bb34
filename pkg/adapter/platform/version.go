package platform

// Version is the version of a platform's interface that an adapter names in its calls.
type Version struct {
	Name string
	// EndsOn is the day on which the platform ends the version, or the first day on which it may by its own rules
	// while it has named none (YYYY-MM-DD, UTC). It is empty if the platform ends no versions.
	EndsOn string
	// Source is the page of the platform that says so.
	Source string
}

// Versions are the versions by the name of the platform. Platforms that are not in it name none in their calls, or
// a path that they have never ended. A test fails 90 days before an end: read the changes of the versions since, set
// the new one here, and run the conformance tests.
var Versions = map[string]Version{
	"facebook":  graphVersion,
	"instagram": graphVersion,
	"linkedin": {"202607", "2027-07-15", // supported for a year at least; others of 2026 end in the middle of the month
		"https://learn.microsoft.com/en-us/linkedin/marketing/integrations/migrations"},
	"threads": {"v1.0", "", "https://developers.facebook.com/docs/threads/changelog"},
	"vk":      {"5.199", "", "https://dev.vk.com/en/reference/versions"},
}

// graphVersion was published on 29 July 2026. Meta ends a version two years after it has published it, at the earliest.
var graphVersion = Version{"v26.0", "2028-07-29", "https://developers.facebook.com/docs/graph-api/changelog/versions"}
