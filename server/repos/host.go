package repos

import (
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// defaultHosts are the hosts of the forges that have one; gitea and forgejo
// are always run by somebody.
var defaultHosts = map[string]string{"github": "github.com", "gitlab": "gitlab.com"}

// otherHosts are further names of public forges, by the name that counts.
var otherHosts = map[string][]string{
	"github.com": {"www.github.com", "ssh.github.com", "api.github.com"},
	"gitlab.com": {"www.gitlab.com", "altssh.gitlab.com"},
}

// defaultPorts are those of https, http and ssh: an address without a port means
// one of them, so a host with one of them is the host without.
var defaultPorts = []string{"443", "80", "22"}

// maxHost bounds the name of a host, in bytes (RFC 1035).
const maxHost = 253

var (
	label = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)
	port  = regexp.MustCompile(`^[1-9][0-9]{0,4}$`)
	digit = regexp.MustCompile(`^[0-9]+$`)
)

// normalHost is the one spelling of a host that is written in any way that means
// it, and false if it is none: a name of labels or an IPv4 address, and a port
// unless that is one of defaultPorts. Names in other scripts are given in their
// ASCII form (xn--…), which is compared as it is; an IPv6 address is none.
func normalHost(host string) (string, bool) {
	name, at, ported := strings.Cut(strings.ToLower(host), ":")
	if !legalHost(name) || ported && !legalPort(at) {
		return host, false
	}
	for canonical, others := range otherHosts {
		if slices.Contains(others, name) {
			name = canonical
		}
	}
	if ported && !slices.Contains(defaultPorts, at) {
		name += ":" + at
	}
	return name, true
}

// legalHost reports whether it is a name of labels, or an IPv4 address in its
// usual form: 127.1 and 0x7f.0.0.1 would be twins of one.
func legalHost(name string) bool {
	labels := strings.Split(name, ".")
	if len(name) > maxHost || slices.ContainsFunc(labels, func(l string) bool { return !label.MatchString(l) }) {
		return false
	}
	last := labels[len(labels)-1]
	if !digit.MatchString(last) && !strings.HasPrefix(last, "0x") {
		return true
	}
	address, err := netip.ParseAddr(name)
	return err == nil && address.Is4()
}

func legalPort(text string) bool {
	n, err := strconv.Atoi(text)
	return port.MatchString(text) && err == nil && n <= 65535
}

// spellings are what releases before kept a normal host as, each a host of its
// own: with a default port, and by another name.
func spellings(host string) []string {
	all := []string{}
	if strings.Contains(host, ":") {
		return all
	}
	for _, name := range append([]string{host}, otherHosts[host]...) {
		if name != host {
			all = append(all, name)
		}
		for _, at := range defaultPorts {
			all = append(all, name+":"+at)
		}
	}
	return all
}
