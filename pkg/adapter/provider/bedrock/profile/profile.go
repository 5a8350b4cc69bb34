// Package profile knows the cross-region inference profiles of Amazon Bedrock. It is
// apart from the adapter, because the catalog needs it and not the SDK.
package profile

import "strings"

// Option is the option of a model that Bedrock serves by cross-region inference
// profiles: the geographies that there is one for, separated by commas.
const Option = "profiles"

// global is the profile that is everywhere.
const global = "global"

// Everywhere is the name, beside those of providers, by which a stack says that Bedrock
// may process its calls anywhere in the world.
const Everywhere = "bedrock-global"

// For returns the profile by which a model is called in a region: the one of the
// region's geography, else the global one if that is permitted, else none. A model that
// has profiles can, in most regions, be called by them alone.
func For(region string, options map[string]string, everywhere bool) string {
	geography, _, _ := strings.Cut(region, "-")
	if geography == "ap" {
		geography = "apac"
	}
	best := ""
	for name := range strings.SplitSeq(options[Option], ",") {
		switch strings.TrimSpace(name) {
		case geography:
			return geography
		case global:
			if everywhere {
				best = global
			}
		}
	}
	return best
}

// RegionsOf returns the regions that a profile may send a call to, as patterns of
// ARNs. The global one may also send it to wherever AWS names no region.
func RegionsOf(profile string) []string {
	switch profile {
	case global:
		return []string{"", "*"}
	case "apac":
		return []string{"ap-*"}
	default:
		return []string{profile + "-*"}
	}
}
