// Package profile knows the cross-region inference profiles of Amazon Bedrock. The catalog and the adapter
// use them.
package profile

import "strings"

// Option is the option of a model that Bedrock serves by cross-region inference profiles: the geographies that have
// one, separated by commas.
const Option = "profiles"

// global is the global profile.
const global = "global"

// Everywhere is the name, in the list of providers, by which a stack permits Bedrock to process its calls anywhere in
// the world.
const Everywhere = "bedrock-global"

// For returns the profile by which a model is called in a region: the one of the region's geography, else the global
// one if that is permitted, else none. A model with profiles can, in most regions, only be called by them.
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

// RegionsOf returns the regions to which a profile may send a call, as patterns of ARNs. The global profile may also
// send it to places that AWS assigns to no region.
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
