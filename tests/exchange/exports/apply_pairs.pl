# Applies the pairs of a regex export to the lines of stdin, in the way that its field "how" says.
use strict;
use warnings;
use JSON::PP;

open(my $file, '<', $ARGV[0]) or die $!;
my $content = decode_json(do { local $/; <$file> });
my $standard = qr/$content->{standard_form}/;
my @pairs = map { [qr/$_->{pattern}/, $_->{pcre}] } @{$content->{pairs}};

LINE: while (my $url = <STDIN>) {
  chomp $url;
  if ($url =~ $standard) {
    for my $turn (1 .. 300) {
      my $is_done = 1;
      for my $pair (@pairs) {
        next unless my @groups = $url =~ $pair->[0];
        last unless defined $pair->[1];
        (my $text = $pair->[1]) =~ s/\\\$|\$\{(\d+)\}/defined $1 ? $groups[$1 - 1] : '$'/ge;
        $url = $text;
        $is_done = 0;
        last;
      }
      last if $is_done;
    }
  }
  print "$url\n";
}
