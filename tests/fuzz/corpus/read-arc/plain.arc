filedesc://made.arc 0.0.0.0 20261115002357 text/plain 75
1 0 Alexa Internet
URL IP-address Archive-date Content-type Archive-length

http://shop.test/p/0 10.0.0.1 20261115002357 text/html 273
HTTP/1.1 200 OK
Content-Type: text/html; charset=utf-8

<!DOCTYPE html><html><head><title>t</title></head><body><p>article number 0 word0 word0 word0 word0 word0 word0 word0 word0 word0 word0 word0 word0 word0 word0 word0 word0 word0 word0 word0 word0 </p></body></html>
http://shop.test/p/1 10.0.0.1 20261115002357 text/html 273
HTTP/1.1 200 OK
Content-Type: text/html; charset=utf-8

<!DOCTYPE html><html><head><title>t</title></head><body><p>article number 1 word1 word1 word1 word1 word1 word1 word1 word1 word1 word1 word1 word1 word1 word1 word1 word1 word1 word1 word1 word1 </p></body></html>
http://shop.test/old 10.0.0.1 20261115002357 text/html 38
HTTP/1.1 301 Moved
Location: /new


