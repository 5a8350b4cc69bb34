package provider

import (
	"slices"
	"strings"
)

// ProfilesOption is the option of a model that Bedrock serves by cross-region inference profiles: the geographies that
// have one, separated by commas.
const ProfilesOption = "profiles"

const globalProfile = "global"

// BedrockEverywhere is the name, in the list of providers, by which a stack permits Bedrock to process its calls
// anywhere in the world.
const BedrockEverywhere = "bedrock-global"

// countries are the profiles of a single country, with its regions.
var countries = map[string][]string{
	"jp": {"ap-northeast-1", "ap-northeast-3"},
	"au": {"ap-southeast-2", "ap-southeast-4"},
}

// ProfileIn returns the profile by which a model is called in a region: the one of the region's country or else
// geography, else the global one if that is permitted, else none. A model with profiles can, in most regions, only be
// called by them.
func ProfileIn(region string, options map[string]string, everywhere bool) string {
	var names []string
	for name := range strings.SplitSeq(options[ProfilesOption], ",") {
		names = append(names, strings.TrimSpace(name))
	}
	geography, _, _ := strings.Cut(region, "-")
	if geography == "ap" {
		geography = "apac"
	}
	for name, regions := range countries {
		if slices.Contains(regions, region) && slices.Contains(names, name) {
			return name
		}
	}
	switch {
	case slices.Contains(names, geography):
		return geography
	case everywhere && slices.Contains(names, globalProfile):
		return globalProfile
	}
	return ""
}

// RegionsOf returns the regions to which a profile may send a call, as patterns of ARNs. The global profile may also
// send it to places that AWS assigns to no region.
func RegionsOf(profile string) []string {
	switch {
	case profile == globalProfile:
		return []string{"", "*"}
	case profile == "apac":
		return []string{"ap-*"}
	case countries[profile] != nil:
		return slices.Clone(countries[profile])
	default:
		return []string{profile + "-*"}
	}
}
